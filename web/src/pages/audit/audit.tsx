import { useComputed } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { workspaceId } from '../../api/workspace.ts';
import { Actor } from '../../design/actor.tsx';
import { goTo, hrefOf, linkTo, route, setQuery } from '../../route/route.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { PAGE_NAMES } from '../names.ts';
import './audit.css';
import { Checkpoint } from './checkpoint.tsx';
import { Entry } from './entry.tsx';
import { ResultOf } from './entry-result.tsx';
import { type AuditEntry, entriesText, whatOf } from './entry-words.ts';
import { Export } from './export.tsx';
import { auditQuery, logHeader, showsSystem } from './filter.ts';
import { Filters } from './filters.tsx';

const PAGE = 100;

/** The entry beside the list; the filters stay in the address. */
function linkToEntry(seq: number): string {
  const { workspace, page, query } = route.value;
  return hrefOf({ workspace, page, rest: [String(seq)], query });
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'No.', cell: ({ seq }) => seq, isNumber: true, isMinor: true },
  { name: 'When', cell: ({ at }) => <Time at={at} /> },
  { name: 'Who', cell: ({ actor }) => <Actor actor={actor} /> },
  {
    name: 'What',
    cell: (entry) => (
      <a href={linkToEntry(entry.seq)} title={whatOf(entry)}>
        {whatOf(entry)}
      </a>
    ),
    isWide: true,
  },
  { name: 'Result', cell: (entry) => <ResultOf entry={entry} />, isMinor: true },
];

/** The log with its filters; `#/…/audit/<seq>` shows one entry whole. */
export default function Audit() {
  const pages = usePages<AuditEntry, { items: AuditEntry[] }>((cursor) => {
    workspaceId.value;
    const query = { ...auditQuery.value, limit: PAGE, ...(cursor && { cursor }) };
    return answer(api.GET('/api/v1/audit', { params: { query, header: logHeader.value } }));
  });
  const rows = useComputed(() => pages.value.value ?? []);
  const { value, reload, more, isLoading } = pages.value;
  const [chosen] = route.value.rest;
  const { workspace, page, query } = route.value;
  return (
    <Page
      title={PAGE_NAMES.audit.title}
      actions={
        <button type="button" onClick={reload}>
          Refresh
        </button>
      }
    >
      <Checkpoint />
      <Filters key={query.toString()} />
      <label class="check">
        <input
          type="checkbox"
          checked={showsSystem.value}
          onChange={({ currentTarget }) => setQuery({ system: currentTarget.checked ? '1' : undefined })}
        />
        Show entries of the control plane: presence, snapshots, cleanup
      </label>
      <div class={`beside ${chosen ? 'chosen' : ''}`}>
        <Table
          read={pages.value}
          label="Audit"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          selected={chosen}
          open={({ seq }) => goTo(linkToEntry(seq))}
          empty={
            <Empty>
              Nothing was recorded with these filters. Clear them to see all.{' '}
              <a href={linkTo('audit')}>Clear the filters</a>
            </Empty>
          }
        />
        {chosen && <Entry key={chosen} seq={chosen} closeTo={hrefOf({ workspace, page, rest: [], query })} />}
      </div>
      <div class="row">
        {more && (
          <button type="button" disabled={isLoading} onClick={more}>
            Load more
          </button>
        )}
        <span class="dim">{value && `${entriesText(value.length)} shown.`}</span>
      </div>
      <Export />
    </Page>
  );
}
