import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import type { Drawing, Effect, EffectRow, WorkflowDetail } from '../../api/types.ts';
import { holds } from '../../api/workspace.ts';
import { actorText } from '../../design/actor-words.ts';
import { type Difference, differenceOf } from '../../effect/difference.ts';
import { EffectLineItem } from '../../effect/effect-view.tsx';
import { groupedRows } from '../../effect/grouped.ts';
import { pairsText } from '../../reach/ports.ts';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const DIFFERS = {
  opened: 'Opens now, and did not then',
  closed: 'Closes now, and did not then',
  notOpened: 'Opened then, and does not now',
  notClosed: 'Closed then, and does not now',
} as const satisfies Record<keyof Difference, string>;
const SIDES = ['opened', 'closed', 'notOpened', 'notClosed'] as const;

const DIFFERENT = 'Below is what it does now, and approving means that. What differs from then:';
const SAME = 'The same connections as then; what is written, or what opens for devices to come, differs.';
const UNSEEN = 'What differs is among the connections that are too many to be compared here: look at all kinds below.';

/** That the effect is another one than when the change was put forward, and in what. */
export function Stale({ workflow, drawing }: { workflow: WorkflowDetail; drawing: Drawing }) {
  if (!drawing.differs) return null;
  const difference = differenceOf(workflow.effect, drawing.effect);
  const isSame = SIDES.every((side) => difference[side].length === 0);
  // Rows that are left out may differ too.
  const isWhole = workflow.effect.omitted + drawing.effect.omitted === 0;
  return (
    <section class="notice warn stale" role="status">
      <strong>▲ The network has changed since this was put forward.</strong>
      <span>{isSame ? (isWhole ? SAME : UNSEEN) : DIFFERENT}</span>
      {SIDES.map((side) => (
        <Differing key={side} side={side} rows={difference[side]} />
      ))}
      <span class="small">
        Then {countsOf(workflow.effect)}; now {countsOf(drawing.effect)}.
      </span>
    </section>
  );
}

function countsOf({ opened_pairs: opened, closed_pairs: closed }: Effect): string {
  return `${pairsText(opened)} opened, ${pairsText(closed)} closed`;
}

function Differing({ side, rows }: { side: keyof Difference; rows: readonly EffectRow[] }) {
  if (rows.length === 0) return null;
  return (
    <div class="differing">
      <p class="small">{DIFFERS[side]}</p>
      <ul>
        {groupedRows(rows).map((line) => (
          <EffectLineItem key={JSON.stringify(line)} line={line} />
        ))}
      </ul>
    </div>
  );
}

const SHOWN = 3;

/** What happened to the network since a change was put forward. */
export function Since({ workflow: { requestedAt } }: { workflow: WorkflowDetail }) {
  const isKnown = holds('snapshots:read');
  const loaded = useLoaded(async () => {
    if (!isKnown) return undefined;
    return answer(api.GET('/api/v1/changes', { params: { query: { from: requestedAt, limit: SHOWN } } }));
  });
  return (
    <ReadResult of={loaded.value} loading="">
      {(value) => value !== undefined && value.total > 0 && <SinceList changes={value} />}
    </ReadResult>
  );
}

function SinceList({ changes: value }: { changes: components['schemas']['ListChangesResponse'] }) {
  return (
    <details>
      <summary>
        {value.total} {value.total === 1 ? 'change' : 'changes'} of the network since this was put forward
      </summary>
      <ul class="stack-small inset">
        {value.items.map(({ at, actor, reason, resources }) => (
          <li key={`${at} ${reason}`} class="row">
            <span class="break">{reason ?? resources.map(({ name }) => name).join(', ')}</span>
            <span class="dim small break">{actor === null ? 'expiry' : actorText(actor)}</span>
            <Time at={at} />
          </li>
        ))}
      </ul>
      <p class="inset">
        <a href={linkTo('time', [], { from: value.from, to: value.to })}>All of them in Time</a>
      </p>
    </details>
  );
}
