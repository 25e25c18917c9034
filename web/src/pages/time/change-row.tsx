import { Actor } from '../../design/actor.tsx';
import { actorText } from '../../design/actor-words.ts';
import { To } from '../../design/to.tsx';
import { type EffectSide, EffectWord } from '../../effect/effect-section.tsx';
import { mayPutBack, putBackTarget } from '../../effect/put-back.ts';
import { pairsText } from '../../reach/ports.ts';
import { linkTo, setQuery } from '../../route/route.ts';
import { justBefore } from '../../time/moment.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { dayClock, exactTime } from '../../ui/time.tsx';
import { type Change, type ChangeEffect, canPutBack, isWithoutEffect, reasonText, whatText } from './change.ts';
import type { Burst } from './days.ts';
import './change-row.css';

type EffectRow = ChangeEffect['opened'][number];

/** A change in one line: time, title, effect and actor; the rest on demand. */
export function ChangeRow({ change, isChosen }: { change: Change; isChosen: boolean }) {
  const { at, revision, actor, reason, reviewed_by: reviewer, workflow_id: workflow, effect } = change;
  const what = whatText(change);
  return (
    <li class={`change-row ${isChosen ? 'chosen' : ''}`} aria-current={isChosen ? 'true' : undefined}>
      <details open={isChosen}>
        <summary>
          <time class="dim" dateTime={at} title={exactTime(at)}>
            {dayClock(at)}
          </time>
          <h3 title={what}>{what}</h3>
          <EffectInLine effect={effect} />
          {actor === null ? <span class="dim">expiry</span> : <Actor actor={actor} />}
        </summary>
        <div class="change-details stack-small">
          <EffectLines effect={effect} />
          {reason && (
            <p class="break">
              “<Sentence text={reasonText(reason, workflow)} />”
            </p>
          )}
          <p class="row small">
            {reviewer && <span class="break">Approved by {actorText(reviewer)}</span>}
            {workflow && <a href={linkTo('review', [workflow])}>Approval</a>}
            {actor !== null && (
              <button type="button" class="link small" onClick={() => setQuery({ actor })}>
                Only changes by {actorText(actor)}
              </button>
            )}
            {revision !== null && <span class="dim">Revision {revision}</span>}
            <button type="button" class="link small" onClick={() => setQuery({ at: justBefore(at) })}>
              Just before
            </button>
            <button
              type="button"
              class="link small"
              onClick={() => setQuery({ from: justBefore(at), view: 'compare' })}
            >
              Compare from here
            </button>
            <button type="button" class="link small" onClick={() => setQuery({ to: at, view: 'compare' })}>
              Compare to here
            </button>
          </p>
        </div>
      </details>
      <div class="change-actions">
        <button
          type="button"
          class="quiet"
          aria-pressed={isChosen}
          aria-label={`View this moment: ${what}, ${exactTime(at)}`}
          onClick={() => setQuery({ at })}
        >
          View this moment
        </button>
        {revision !== null && canPutBack(change) && mayPutBack() && (
          <button
            type="button"
            class="quiet"
            aria-label={`Revert: ${what}`}
            onClick={() => {
              putBackTarget.value = { undo_revision: revision };
            }}
          >
            Revert
          </button>
        )}
      </div>
    </li>
  );
}

/** Many changes of a kind in one line, each of them on demand. */
export function BurstRow({ burst: { what, changes }, at }: { burst: Burst; at: string | null }) {
  const [newest] = changes;
  const oldest = changes.at(-1) ?? newest;
  const names = changes.flatMap(({ resources }) => resources.map(({ name }) => name)).toReversed();
  const hasChosen = changes.some((change) => change.at === at);
  return (
    <li class="change-row burst">
      <details open={hasChosen}>
        <summary>
          <time class="dim" dateTime={oldest.at} title={`${exactTime(oldest.at)} to ${exactTime(newest.at)}`}>
            {dayClock(oldest.at)}
          </time>
          <h3>{what}</h3>
          <span class="dim">{names.join(', ')}</span>
          {newest.actor !== null && changes.every(({ actor }) => actor === newest.actor) && (
            <Actor actor={newest.actor} />
          )}
        </summary>
        <ol class="changes">
          {changes.map((change) => (
            <ChangeRow key={change.at} change={change} isChosen={change.at === at} />
          ))}
        </ol>
      </details>
    </li>
  );
}

/** The largest of what opens and closes, as far as a line has room. */
export function EffectInLine({ effect }: { effect: ChangeEffect | null }) {
  if (effect === null) return <span class="dim">effect unknown</span>;
  if (isWithoutEffect(effect)) return <span class="dim">no connection changes</span>;
  const { opened, closed, omitted } = effect;
  const [first] = opened.length > 0 ? opened : closed;
  const more = opened.length + closed.length + omitted - 1;
  return (
    <span class="effect-line">
      {first && <ConnectionLine kind={opened.length > 0 ? 'opens' : 'closes'} row={first} hasPairs={more === 0} />}
      {more > 0 && <span class="dim">and {more === 1 ? '1 more change' : `${more} more changes`}</span>}
    </span>
  );
}

function EffectLines({ effect }: { effect: ChangeEffect | null }) {
  if (effect === null) return <p class="dim">Which connections it opened and closed is not known.</p>;
  if (isWithoutEffect(effect)) return <p class="dim">It opened and closed no connections.</p>;
  const { opened, closed, omitted, outside_compared: isCompared } = effect;
  return (
    <ul class="effect-lines">
      {opened.map((row) => (
        <li key={`opens ${row.from} ${row.to} ${row.ports}`}>
          <ConnectionLine kind="opens" row={row} />
        </li>
      ))}
      {closed.map((row) => (
        <li key={`closes ${row.from} ${row.to} ${row.ports}`}>
          <ConnectionLine kind="closes" row={row} />
        </li>
      ))}
      {omitted > 0 && (
        <li class="dim">
          and {omitted} more {omitted === 1 ? 'kind' : 'kinds'} of connections
        </li>
      )}
      {!isCompared && <li class="dim">There were too many addresses outside to compare.</li>}
    </ul>
  );
}

interface ConnectionLineProps {
  readonly kind: EffectSide;
  readonly row: EffectRow;
  readonly hasPairs?: boolean;
}

function ConnectionLine({ kind, row: { from, to, ports, pairs }, hasPairs = true }: ConnectionLineProps) {
  return (
    <span class={`effect-line ${kind}`}>
      <strong>
        <EffectWord kind={kind} />
      </strong>{' '}
      <span class="ends" title={`${from} to ${to}`}>
        {from} <To /> {to}
      </span>{' '}
      <code>{ports}</code> {hasPairs && <span class="dim small">{pairsText(pairs)}</span>}
    </span>
  );
}
