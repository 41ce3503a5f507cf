# Names of archived runs and of examples are asked of the program.
_fathom() {
    local kind
    local -a names
    case "${words[2]} ${words[3]}" in
        report\ *|compare\ *|"runs show"|"runs tag"|"runs note"|"runs rm"|"runs export"|"runs rejudge") kind=runs ;;
        examples\ *) kind=examples ;;
    esac
    [[ "${words[CURRENT-1]}" == --example ]] && kind=examples
    if [[ -n "$kind" && "${words[CURRENT]}" != -* ]]; then
        names=(${(f)"$("${words[1]}" names $kind 2>/dev/null)"})
        compadd -a names
    fi
    _fathom_of_options "$@"
}

