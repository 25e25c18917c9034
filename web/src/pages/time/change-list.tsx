import type { ReadonlySignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { actorOf, actorText } from '../../design/actor-words.ts';
import { route, setQuery } from '../../route/route.ts';
import { withAgentNamesIn } from '../../ui/agent-names.ts';
import { Empty } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { type Range, setRange } from '../../ui/range.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { dayText, Time } from '../../ui/time.tsx';
import { keyOf } from './change.ts';
import { BurstRow, ChangeRow } from './change-row.tsx';
import { FILTERS, filterOf, useChanges, useNewer } from './changes.ts';
import { type Day, daysOf } from './days.ts';
import { Timeline } from './timeline.tsx';

const KINDS = { MeshPeer: 'Peers', MeshPolicy: 'Policies', MeshNetwork: 'Networks', AgentIdentity: 'Agents' } as const;

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
          <span>The network has changed since this range ended.</span>
          <button type="button" class="link" onClick={() => setQuery({ to: new Date().toISOString() })}>
            Show up to now
          </button>
        </div>
      )}
      <ReadResult of={first.value}>{(answer) => answer && <Timeline answer={answer} changes={changes} />}</ReadResult>
      <p class="row" role="status">
        {value && (
          <strong>
            {value.total === 1 ? '1 change' : `${value.total} changes`}
            {isFiltered ? '' : ' of peers, policies, networks and agents'}
          </strong>
        )}
        {value?.known_since && (
          <span class="dim">
            The history begins <Time at={value.known_since} />
          </span>
        )}
      </p>
      {value?.total === 0 && <Nothing isFiltered={isFiltered} isWholeHistory={value.known_since !== undefined} />}
      {daysOf(changes, dayText).map((day) => (
        <DayOfChanges key={day.at} day={day} at={at} />
      ))}
      <ProblemNotice problem={earlier.problem.value} />
      {next.value && (
        <div class="row">
          <button type="button" disabled={earlier.isActing.value} onClick={loadEarlier}>
            Load earlier changes
          </button>
        </div>
      )}
    </>
  );
}

function DayOfChanges({ day, at }: { day: Day; at: string | null }) {
  return (
    <section class="day" aria-label={dayText(day.at)}>
      <h2>
        {dayText(day.at)} <span class="dim small">{day.count === 1 ? '1 change' : `${day.count} changes`}</span>
      </h2>
      <ol class="changes panel">
        {day.rows.map((row) =>
          'changes' in row ? (
            <BurstRow key={`${row.what} ${row.changes[0].at}`} burst={row} at={at} />
          ) : (
            <ChangeRow key={keyOf(row)} change={row} isChosen={row.at === at} />
          ),
        )}
      </ol>
    </section>
  );
}

function Nothing({ isFiltered, isWholeHistory }: { isFiltered: boolean; isWholeHistory: boolean }) {
  return (
    <Empty>
      <p>{isFiltered ? 'No change in this range matches the filter.' : 'Nothing changed in this range.'}</p>
      <div class="row">
        {isFiltered && (
          <button type="button" onClick={clearFilter}>
            Clear filter
          </button>
        )}
        {!isWholeHistory && (
          <>
            <span>Look further back:</span>
            <button type="button" onClick={() => setRange('week')}>
              Last 7 days
            </button>
            <button type="button" onClick={() => setRange('month')}>
              Last 30 days
            </button>
          </>
        )}
      </div>
    </Empty>
  );
}

function clearFilter(): void {
  setQuery(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

/** A change of a field is asked for when it is left, or with Enter: each asks the control plane to compare anew. */
function Filters({ actors }: { actors: readonly string[] }) {
  const { kind, name, peer, actor } = filterOf(route.value.query);
  return (
    <form class="row filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <label class="field">
        Kind
        <select value={kind ?? ''} onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}>
          <option value="">All kinds</option>
          {Object.entries(KINDS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Resource name
        <input
          type="search"
          value={name ?? ''}
          onChange={({ currentTarget }) => setQuery({ name: currentTarget.value.trim() })}
        />
      </label>
      <label class="field">
        Affected peer
        <input
          type="search"
          value={peer ?? ''}
          onChange={({ currentTarget }) => setQuery({ peer: currentTarget.value.trim() })}
        />
      </label>
      <label class="field">
        Changed by
        <input
          type="search"
          list="actors"
          value={actor ?? ''}
          onChange={({ currentTarget }) => setQuery({ actor: actorOf(currentTarget.value.trim()) })}
        />
      </label>
      <datalist id="actors">
        {actors.map((one) => (
          <option key={one} value={actorText(one)} />
        ))}
      </datalist>
      {(kind || name || peer || actor) && (
        <button type="button" class="quiet" onClick={clearFilter}>
          Clear filter
        </button>
      )}
    </form>
  );
}
