import { mayPutBack, putBackTarget } from '../../effect/put-back.ts';
import { linkTo, setQuery } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { time } from '../../texts/time.ts';
import { justBefore } from '../../time/moment.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { exactTime, Time } from '../../ui/time.tsx';
import { type Change, type ChangeEffect, canPutBack, isWithoutEffect, reasonText, whatText } from './change.ts';

/** One change: when, who, why, what it opened and closed, and what can be done from here. */
export function ChangeRow({ change, isChosen }: { change: Change; isChosen: boolean }) {
  const { at, revision, actor, reason, reviewed_by: reviewer, workflow_id: workflow, effect } = change;
  const what = whatText(change);
  return (
    <li class={`panel change ${isChosen ? 'chosen' : ''}`} aria-current={isChosen ? 'true' : undefined}>
      <div class="row">
        <h2 class="break">{what}</h2>
        <span class="push dim small">
          <Time at={at} />
        </span>
      </div>
      <p class="row small">
        {actor === null ? (
          <span class="dim">{time.byTime}</span>
        ) : (
          <button type="button" class="link small" title={time.onlyBy(actor)} onClick={() => setQuery({ actor })}>
            {actor}
          </button>
        )}
        {reason && (
          <span class="break">
            “<Sentence text={reasonText(reason, workflow)} />”
          </span>
        )}
        {reviewer && <span class="break">{time.approvedBy(reviewer)}</span>}
        {workflow && <a href={linkTo('review', [workflow])}>{time.review}</a>}
        {revision !== null && <span class="dim">{time.revision(revision)}</span>}
      </p>
      <EffectLines effect={effect} />
      <div class="row">
        <button
          type="button"
          aria-pressed={isChosen}
          aria-label={`${time.at}: ${what}, ${exactTime(at)}`}
          onClick={() => setQuery({ at })}
        >
          {time.at}
        </button>
        {isChosen && (
          <>
            <button type="button" class="quiet" onClick={() => setQuery({ at: justBefore(at) })}>
              {time.before}
            </button>
            <button type="button" class="quiet" onClick={() => setQuery({ from: justBefore(at), view: 'compare' })}>
              {time.compareFrom}
            </button>
            <button type="button" class="quiet" onClick={() => setQuery({ to: at, view: 'compare' })}>
              {time.compareTo}
            </button>
          </>
        )}
        {revision !== null && canPutBack(change) && mayPutBack() && (
          <button
            type="button"
            class="push"
            aria-label={`${time.undo}: ${what}`}
            onClick={() => {
              putBackTarget.value = { undo_revision: revision };
            }}
          >
            {time.undo}
          </button>
        )}
      </div>
    </li>
  );
}

function EffectLines({ effect }: { effect: ChangeEffect | null }) {
  if (effect === null) return <p class="dim">{time.unknownEffect}</p>;
  if (isWithoutEffect(effect)) return <p class="dim">{time.noEffect}</p>;
  const { opened, closed, omitted, outside_compared: isCompared } = effect;
  return (
    <ul class="effect-lines">
      {opened.map((row) => (
        <Line key={`opens ${row.from} ${row.to} ${row.ports}`} kind="opens" row={row} />
      ))}
      {closed.map((row) => (
        <Line key={`closes ${row.from} ${row.to} ${row.ports}`} kind="closes" row={row} />
      ))}
      {omitted > 0 && <li class="dim">{time.omitted(omitted)}</li>}
      {!isCompared && <li class="dim">{time.outsideUnknown}</li>}
    </ul>
  );
}

function Line({
  kind,
  row: { from, to, ports, pairs },
}: {
  kind: 'opens' | 'closes';
  row: ChangeEffect['opened'][number];
}) {
  return (
    <li class={kind}>
      <strong>
        <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {texts.effect[kind]}
      </strong>
      <span class="break">
        {from} <span aria-hidden="true">→</span>
        <span class="visually-hidden">{texts.effect.to}</span> {to}
      </span>
      <code>{ports}</code>
      <span class="dim small">{time.pairs(pairs)}</span>
    </li>
  );
}
