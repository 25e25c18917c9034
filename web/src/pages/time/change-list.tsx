import type { ReadonlySignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { route, setQuery } from '../../route/route.ts';
import { time } from '../../texts/time.ts';
import { withAgentNamesIn } from '../../ui/agent-names.ts';
import { Empty } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { type Range, setRange } from '../../ui/range.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { keyOf } from './change.ts';
import { ChangeRow } from './change-row.tsx';
import { FILTERS, filterOf, useChanges, useNewer } from './changes.ts';
import { Timeline } from './timeline.tsx';

/** The changes of the range, newest first, and a slider over them. */
export function ChangeList({ range }: { range: ReadonlySignal<Range | undefined> }) {
  const { first, items, next, earlier, loadEarlier } = useChanges(range);
  const agents = useAgentNames();
  const changes = withAgentNamesIn(items.value, agents.value.value);
  const newer = useNewer(range);
  const { value } = first.value;
  const at = route.value.query.get('at');
  const isFiltered = Object.keys(filterOf(route.value.query)).length > 0;
  return (
    <>
      <Filters actors={[...new Set(items.value.flatMap(({ actor }) => actor ?? []))]} />
      <ReadResult of={newer.read.value} loading="" />
      <ReadResult of={agents.value} loading="" />
      {newer.isNewer.value && (
        <div class="notice" role="status">
          <span>{time.newer}</span>
          <button type="button" class="link" onClick={() => setQuery({ to: new Date().toISOString() })}>
            {time.showNewer}
          </button>
        </div>
      )}
      <ReadResult of={first.value}>{(answer) => answer && <Timeline answer={answer} changes={changes} />}</ReadResult>
      <p class="row" role="status">
        {value && <strong>{time.count(value.total, isFiltered)}</strong>}
        {value?.known_since && (
          <span class="dim">
            {time.knownSince} <Time at={value.known_since} />
          </span>
        )}
      </p>
      {value?.total === 0 && <Nothing isFiltered={isFiltered} />}
      <ol class="changes">
        {changes.map((change) => (
          <ChangeRow key={keyOf(change)} change={change} isChosen={change.at === at} />
        ))}
      </ol>
      <ProblemNotice problem={earlier.problem.value} />
      {next.value && (
        <div class="row">
          <button type="button" disabled={earlier.isActing.value} onClick={loadEarlier}>
            {time.earlier}
          </button>
        </div>
      )}
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty>
      <p>{isFiltered ? time.emptyFilter : time.empty}</p>
      <div class="row">
        {isFiltered && (
          <button type="button" onClick={clearFilter}>
            {time.clear}
          </button>
        )}
        <span>{time.emptyNext}</span>
        <button type="button" onClick={() => setRange('week')}>
          {time.quick.week}
        </button>
        <button type="button" onClick={() => setRange('month')}>
          {time.quick.month}
        </button>
      </div>
    </Empty>
  );
}

function clearFilter(): void {
  setQuery(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

/** A change of a field is asked for when it is left, or with Enter: each asks the control plane to compare anew. */
function Filters({ actors }: { actors: readonly string[] }) {
  const { kind, name, actor } = filterOf(route.value.query);
  return (
    <form class="row filters" aria-label={time.filter} onSubmit={(event) => event.preventDefault()}>
      <label class="field">
        {time.kind}
        <select value={kind ?? ''} onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}>
          <option value="">{time.anyKind}</option>
          {Object.entries(time.kinds).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        {time.name}
        <input
          type="search"
          value={name ?? ''}
          onChange={({ currentTarget }) => setQuery({ name: currentTarget.value.trim() })}
        />
      </label>
      <label class="field">
        {time.actor}
        <input
          type="search"
          list="actors"
          value={actor ?? ''}
          onChange={({ currentTarget }) => setQuery({ actor: currentTarget.value.trim() })}
        />
      </label>
      <datalist id="actors">
        {actors.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {(kind || name || actor) && (
        <button type="button" class="quiet" onClick={clearFilter}>
          {time.clear}
        </button>
      )}
    </form>
  );
}
