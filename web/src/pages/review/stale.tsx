import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import type { Drawing, Effect, EffectRow, WorkflowDetail } from '../../api/types.ts';
import { holds } from '../../api/workspace.ts';
import { type Difference, differenceOf } from '../../effect/difference.ts';
import { EffectLineItem } from '../../effect/effect-view.tsx';
import { groupedRows } from '../../effect/grouped.ts';
import { linkTo } from '../../route/route.ts';
import { review as words } from '../../texts/review.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const SIDES = ['opened', 'closed', 'notOpened', 'notClosed'] as const;

/** That the effect is another one than when the change was put forward, and in what. */
export function Stale({ workflow, drawing }: { workflow: WorkflowDetail; drawing: Drawing }) {
  if (!drawing.differs) return null;
  const difference = differenceOf(workflow.effect, drawing.effect);
  const isSame = SIDES.every((side) => difference[side].length === 0);
  // Rows that are left out may differ too.
  const isWhole = workflow.effect.omitted + drawing.effect.omitted === 0;
  return (
    <section class="notice warn stale" role="status">
      <strong>▲ {words.stale}</strong>
      <span>{!isSame ? words.staleWhy : isWhole ? words.sameConnections : words.differsUnseen}</span>
      {SIDES.map((side) => (
        <Differing key={side} side={side} rows={difference[side]} />
      ))}
      <span class="small">{words.counts(countsOf(workflow.effect), countsOf(drawing.effect))}</span>
    </section>
  );
}

function countsOf({ opened_pairs: opened, closed_pairs: closed }: Effect): string {
  return words.countsOf(opened, closed);
}

function Differing({ side, rows }: { side: keyof Difference; rows: readonly EffectRow[] }) {
  if (rows.length === 0) return null;
  return (
    <div class="differing">
      <p class="small">{words.differs[side]}</p>
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
      <summary>{words.since(value.total)}</summary>
      <ul class="stack-small inset">
        {value.items.map(({ at, actor, reason, resources }) => (
          <li key={`${at} ${reason}`} class="row">
            <span class="break">{reason ?? resources.map(({ name }) => name).join(', ')}</span>
            <span class="dim small break">{actor}</span>
            <Time at={at} />
          </li>
        ))}
      </ul>
      <p class="inset">
        <a href={linkTo('time', [], { from: value.from, to: value.to })}>{words.sinceAll}</a>
      </p>
    </details>
  );
}
