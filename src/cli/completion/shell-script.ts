/**
 * Scripts that complete commands, options and names. They contain the program's words, and list syncs and mappings from
 * the mappings folder, so pressing Tab starts no process of ours.
 */
import type { CommandWords, Values } from './words.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script for a shell. */
export function shellScript(shell: Shell, commands: readonly CommandWords[]): string {
  if (shell === 'fish') return fishScript(commands);
  // zsh understands the completions of bash.
  return `${shell === 'zsh' ? 'autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit -u\nbashcompinit\n' : ''}${bashScript(commands)}`;
}

/** Where each word comes from in bash. Every name here passes isSyncName or is one of ours, so none needs quoting. */
const bashWords = (values: Values): string => {
  if (values === null) return '';
  if (values === 'syncs') return '$(_partner_sync_syncs)';
  if (values === 'mappings') return '$(_partner_sync_mappings)';
  return values === 'files' ? '$(compgen -f -- "$current")' : values.join(' ');
};

function bashScript(commands: readonly CommandWords[]): string {
  const known = commands.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  const cases = commands.map(({ path, subcommands, options, args }) => {
    const values = options.filter((option) => option.values !== null);
    return `    "${path}")
      options="${options.map(({ name }) => name).join(' ')}"
      case "$previous" in
${values.map((option) => `        ${option.name}) words="${bashWords(option.values)}"; options="" ;;\n`).join('')}        *) case "$position" in
${[...(subcommands.length > 0 ? [subcommands.map(({ name }) => name).join(' ')] : args.map(bashWords))].map((words, i) => `          ${i}) words="${words}" ;;\n`).join('')}          *) : ;; esac ;;
      esac ;;`;
  });
  return `_partner_sync_syncs() {
  local file
  for file in "\${PARTNER_SYNC_MAPPINGS:-mappings}"/*/sync.*; do
    [ -f "$file" ] && file=\${file%/*} && echo "\${file##*/}"
  done
}
_partner_sync_mappings() {
  local file
  for file in "\${PARTNER_SYNC_MAPPINGS:-mappings}"/\${sync:-*}/*.mapping.*; do
    [ -f "$file" ] && file=\${file##*/} && echo "\${file%.mapping.*}"
  done
}
_partner_sync() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path="" sync="" position=0 words="" options="" i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # \`npx partner-sync\`: what comes before belongs to npx.
    case "$i $word" in "1 partner-sync") continue ;; esac
    case "$word" in -*) continue ;; esac
    case "\${path:+$path }$word" in
      ${known.join('|')}) path="\${path:+$path }$word" ;;
      *) [ "$position" = 0 ] && sync=$word; position=$((position + 1)) ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "$current" in -*) words=$options ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _partner_sync partner-sync
_partner_sync_npx() {
  if [ "\${COMP_WORDS[1]}" = partner-sync ] && [ "$COMP_CWORD" -gt 1 ]; then
    _partner_sync
  else
    COMPREPLY=($(compgen -W "partner-sync" -- "\${COMP_WORDS[COMP_CWORD]}") $(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -p npx >/dev/null 2>&1 || complete -F _partner_sync_npx npx
`;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishScript(commands: readonly CommandWords[]): string {
  const from = (values: Values): string => {
    if (values === 'files') return '-r';
    if (values === null) return '';
    const words = typeof values === 'string' ? `(_partner_sync_${values})` : values.join(' ');
    return `-x -a ${quoted(words)}`;
  };
  const lines = commands.flatMap(({ path, subcommands, options, args }) => {
    const when = `-n ${quoted(`_partner_sync_at ${path}`.trim())}`;
    return [
      ...subcommands.map(({ name, summary }) => `complete -c partner-sync -f ${when} -a ${name} -d ${quoted(summary)}`),
      ...args.slice(0, 1).map((values) => `complete -c partner-sync -f ${when} ${from(values)}`),
      ...options.map(({ name, description, values }) =>
        `complete -c partner-sync ${when} -l ${name.replace(/^--/, '')} ${from(values)} -d ${quoted(description)}`.replace(
          / {2,}/g,
          ' ',
        ),
      ),
    ];
  });
  const known = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `function _partner_sync_at
  set -l path
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    contains -- (string join ' ' $path $word) ${known.join(' ')}; or continue
    set -a path $word
  end
  test "$path" = "$argv"
end
function _partner_sync_folder
  set -q PARTNER_SYNC_MAPPINGS; and echo $PARTNER_SYNC_MAPPINGS; or echo mappings
end
function _partner_sync_syncs
  for file in (_partner_sync_folder)/*/sync.*
    basename (dirname $file)
  end
end
function _partner_sync_mappings
  for file in (_partner_sync_folder)/*/*.mapping.*
    string replace -r '\\.mapping\\..*' '' (basename $file)
  end
end
complete -c partner-sync -f
${lines.join('\n')}
`;
}
