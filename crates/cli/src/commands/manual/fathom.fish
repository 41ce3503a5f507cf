
# Names of archived runs and of examples are asked of the program.
complete -c fathom -n "__fish_seen_subcommand_from report compare; or begin; __fish_seen_subcommand_from runs; and __fish_seen_subcommand_from show tag note rm export rejudge; end" -a "(fathom names runs 2>/dev/null)"
complete -c fathom -n "__fish_seen_subcommand_from examples" -f -a "(fathom names examples 2>/dev/null)"
complete -c fathom -n "__fish_seen_subcommand_from run" -l example -x -a "(fathom names examples 2>/dev/null)"
