import type { NetworkState } from '../../core/state/state.ts';
import { enumerated, quoted, Refusal, said } from './refusal.ts';
import { isolation } from './selects.ts';
import type { Statement } from './statements.ts';
import { parseSubjects } from './subjects.ts';
import { worded } from './wording.ts';

/**
 * "Everything else stays closed" is true where who is reached is closed but for grants; nothing else opens then.
 *
 * @throws Refusal where it is open today, so that something would have to close.
 */
export function requireElseClosed(statement: Statement, state: NetworkState, now: number): void {
  if (!statement.elseClosed) return;
  const { source, target } = statement.slots;
  const isClosed = isolation(state, now, 'ingress');
  const open = target && parseSubjects(target, state).flatMap(({ peers }) => peers.filter((peer) => !isClosed(peer)));
  if (statement.wish === 'allow' && open?.length === 0) return;
  const sides = { ...(source && { source }), ...(target && { target }) };
  const shown =
    open && open.length > 0 ? `: ${enumerated(open.map(({ name }) => quoted(name)))} are open to everyone` : '';
  throw new Refusal(
    `Everything else is not closed today${shown}.`,
    [
      `What else should be closed: ${target ? `all other access to ${quoted(said(target))}` : 'all access'}, or everything that no policy allows?`,
    ],
    {
      choices: worded(
        ['only {source} may reach {target}{on}', 'limit access to {target} to {source}{on}'],
        sides,
        statement,
      ),
    },
  );
}
