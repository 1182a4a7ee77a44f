# Completion of firn(1) for bash.

_firn_options_of()
{
    local common="--json --config --verbose --no-progress --help --version"
    local catalog="--catalog --catalog-name"
    local plan="--target-file-size-bytes --min-input-files --max-file-group-size-bytes --rewrite-all
        --delete-ratio-threshold --delete-file-threshold --no-joined-pages --explain"
    local lake="--glob --from --base --location --format-version --partition --property --limit --retries
        --on-replaced --skip-bad --rebuild-ledger"
    local sync="--manifest --unit-column --rows-column --path-column --unit-folder --batch --unit-property
        --on-missing --force"
    case "$1" in
        tables | snapshots | refs | history | doctor) echo "$common $catalog" ;;
        files) echo "$common $catalog --ref --where" ;;
        manifests) echo "$common $catalog --ref" ;;
        describe) echo "$common $catalog --ref --content-hash --memory --threads" ;;
        scan)
            echo "$common $catalog --ref --columns --where --limit --format --memory --threads"
            ;;
        plan) echo "$common $catalog --ref --where $plan --memory --threads" ;;
        compact)
            echo "$common $catalog --ref --where $plan --yes --dry-run --verify --lock-timeout" \
                "--partial-progress --memory --threads"
            ;;
        rewrite-deletes | remove-dangling-deletes)
            echo "$common $catalog --ref --yes --dry-run --lock-timeout --memory --threads"
            ;;
        upgrade) echo "$common $catalog --to --yes --dry-run --lock-timeout" ;;
        verify) echo "$common $catalog --ref --deep --memory --threads" ;;
        register)
            echo "$common $catalog --ref $lake --yes --dry-run --lock-timeout --memory --threads"
            ;;
        sync)
            echo "$common $catalog --ref $lake $sync --yes --dry-run --lock-timeout --memory" \
                "--threads"
            ;;
        audit) echo "$common $catalog --ref --deep --fix --yes --dry-run --lock-timeout --memory --threads" ;;
        catalog) echo "$common $catalog --yes --dry-run" ;;
        parquet)
            case "$2" in
                merge)
                    echo "$common --memory --threads --output --force --compression" \
                        "--target --row-group-size-bytes --no-joined-pages"
                    ;;
                inspect) echo "$common --pages" ;;
                verify) echo "$common --memory --threads" ;;
                *) echo "$common" ;;
            esac
            ;;
        demo) echo "$common --memory --threads" ;;
        *) echo "$common" ;;
    esac
}

_firn()
{
    local current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verbs="tables describe snapshots refs files manifests history scan plan compact
        rewrite-deletes remove-dangling-deletes upgrade verify audit register sync catalog parquet doctor config demo help"
    local verb="" second="" i
    COMPREPLY=()
    case "$previous" in
        --catalog | --config | --output | -o | --from | --manifest | --base | --location)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return
            ;;
        --catalog-name | --ref | --where | --target-file-size-bytes | --min-input-files | \
            --max-file-group-size-bytes | --delete-ratio-threshold | --delete-file-threshold | \
            --memory | --threads | --lock-timeout | --target | --row-group-size-bytes | \
            --columns | --limit | --glob | --unit-column | --rows-column | --path-column | \
            --unit-folder | --partition | --property | --batch | --retries | --unit-property)
            return
            ;;
        --format)
            mapfile -t COMPREPLY < <(compgen -W "csv json" -- "$current")
            return
            ;;
        --format-version)
            mapfile -t COMPREPLY < <(compgen -W "1 2 3" -- "$current")
            return
            ;;
        --on-replaced)
            mapfile -t COMPREPLY < <(compgen -W "error report overwrite delete" -- "$current")
            return
            ;;
        --on-missing)
            mapfile -t COMPREPLY < <(compgen -W "error report delete" -- "$current")
            return
            ;;
        --to)
            mapfile -t COMPREPLY < <(compgen -W "2 3" -- "$current")
            return
            ;;
        --compression)
            mapfile -t COMPREPLY < <(compgen -W "zstd snappy gzip brotli lz4_raw none" -- "$current")
            return
            ;;
    esac
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
            --catalog | --config | --catalog-name | --ref | --where | --target-file-size-bytes | \
                --min-input-files | --max-file-group-size-bytes | --delete-ratio-threshold | \
                --delete-file-threshold | --memory | --threads | \
                --lock-timeout | --output | -o | --compression | --target | --row-group-size-bytes | \
                --columns | --limit | --format | --to) ((i++)) ;;
            -*) ;;
            *)
                if [[ -z $verb ]]; then
                    verb=${COMP_WORDS[i]}
                elif [[ -z $second ]]; then
                    second=${COMP_WORDS[i]}
                fi
                ;;
        esac
    done
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_firn_options_of "$verb" "$second")" -- "$current")
        return
    fi
    case "$verb:$second" in
        :) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
        help:) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
        catalog: | help:catalog) mapfile -t COMPREPLY < <(compgen -W "register recover" -- "$current") ;;
        parquet: | help:parquet)
            mapfile -t COMPREPLY < <(compgen -W "inspect merge verify" -- "$current")
            ;;
        config: | help:config) mapfile -t COMPREPLY < <(compgen -W "show validate" -- "$current") ;;
        demo: | help:demo) mapfile -t COMPREPLY < <(compgen -W "small-files lake" -- "$current") ;;
        tables:* | config:show | help:*) ;;
        *)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            ;;
    esac
}

complete -F _firn firn
