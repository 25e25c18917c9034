import type { Token } from './lexicon.ts';
import { ARTICLES } from './phrases.ts';
import { portsAt } from './ports.ts';
import { quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

const THINGS: ReadonlySet<string> = new Set(
  [
    ...['relay', 'gateway', 'proxy', 'router', 'tunnel', 'vpn', 'bastion', 'hop', 'node', 'exit', 'jump', 'host'],
    ...['internet', 'wan', 'lan', 'wifi', 'mesh', 'overlay', 'wireguard', 'derp', 'server', 'path', 'route'],
  ].flatMap((word) => [word, `${word}s`]),
);
const DIRECTLY: ReadonlySet<string> = new Set(['directly', 'direct', 'relayed', 'peer-to-peer', 'indirectly']);

/**
 * "Via the relay", "through api-1", "directly": who may reach whom is decided, never by which path.
 *
 * @throws Refusal quoting the path
 */
export function refusePaths(tokens: readonly Token[], vocabulary: Vocabulary): void {
  const at = tokens.findIndex((_, place) => pathEnd(tokens, place, vocabulary) !== undefined);
  const end = at < 0 ? undefined : pathEnd(tokens, at, vocabulary);
  if (end === undefined) return;
  const only = tokens[at - 1]?.sym === 'ONLY' ? at - 1 : at;
  const span = tokens.slice(only, end);
  throw new Refusal(
    `${quoted(said(span))} names a path, and policies decide who may reach whom, not by which path: devices talk directly where they can, and by the relay where they cannot.`,
    ['Should it hold whatever the path? Then leave the path out. Which paths are in use says get_peer_paths.'],
    { replace: span, by: [''], final: true },
  );
}

/** Where a path ends that begins here. */
function pathEnd(tokens: readonly Token[], at: number, { isName }: Vocabulary): number | undefined {
  const token = tokens[at];
  if (!token || token.quoted) return undefined;
  if (!token.sym && DIRECTLY.has(token.text) && !isName(token.text)) return at + 1;
  const uses = token.sym === 'REACHING' && token.text === 'using';
  if ((token.sym !== 'OVER' && !uses) || portsAt(tokens, at + 1)) return undefined;
  let end = at + 1;
  while (ARTICLES.has(tokens[end]?.text ?? '')) end += 1;
  const first = end;
  while (tokens[end] && tokens[end]?.sym === undefined) end += 1;
  const named = tokens.slice(first, end);
  return named.some(({ text, quoted: isQuoted }) => THINGS.has(text) || (!uses && (isQuoted || isName(text))))
    ? end
    : undefined;
}
