
# Names of archived runs and of examples are asked of the program.
_fathom_with_names() {
    _fathom "$@"
    [[ "$2" == -* ]] && return
    local kind=
    if [[ "$3" == --example ]]; then
        kind=examples
    else
        case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
            "report "* | "compare "* | "runs show" | "runs tag" | "runs note" | "runs rm" | "runs export" | "runs rejudge") kind=runs ;;
            "examples "*) kind=examples ;;
        esac
    fi
    [[ -n "$kind" ]] && COMPREPLY+=($(compgen -W "$("$1" names "$kind" 2>/dev/null)" -- "$2"))
}
complete -F _fathom_with_names -o nosort -o bashdefault -o default fathom
