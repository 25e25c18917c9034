import { useComputed } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { workspaceId } from '../../api/workspace.ts';
import { goTo, hrefOf, linkTo, route } from '../../route/route.ts';
import { audit as words } from '../../texts/audit.ts';
import { texts } from '../../texts/texts.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import './audit.css';
import { Checkpoint } from './checkpoint.tsx';
import { Entry } from './entry.tsx';
import { ApprovalOf, whatOf } from './entry-words.tsx';
import { Export } from './export.tsx';
import { type AuditEntry, auditQuery, logHeader } from './filter.ts';
import { Filters } from './filters.tsx';

const PAGE = 100;

/** The entry beside the list; the filters stay in the address. */
function linkToEntry(seq: number): string {
  const { workspace, page, query } = route.value;
  return hrefOf({ workspace, page, rest: [String(seq)], query });
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: words.number, cell: ({ seq }) => seq, isNumber: true, isMinor: true },
  { name: words.when, cell: ({ at }) => <Time at={at} /> },
  { name: words.who, cell: ({ actor }) => <span title={actor}>{actor}</span> },
  {
    name: words.what,
    cell: (entry) => (
      <a href={linkToEntry(entry.seq)} title={whatOf(entry)}>
        {whatOf(entry)}
      </a>
    ),
  },
  { name: words.approval, cell: (entry) => <ApprovalOf entry={entry} />, isMinor: true },
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
      title={texts.shell.pages.audit}
      actions={
        <button type="button" onClick={reload}>
          {texts.common.refresh}
        </button>
      }
    >
      <p class="dim">{words.why}</p>
      <Checkpoint />
      <Filters key={query.toString()} />
      <div class={`beside ${chosen ? 'chosen' : ''}`}>
        <Table
          read={pages.value}
          label={words.title}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          selected={chosen}
          open={({ seq }) => goTo(linkToEntry(seq))}
          empty={
            <Empty>
              {words.empty} <a href={linkTo('audit')}>{words.clear}</a>
            </Empty>
          }
        />
        {chosen && <Entry key={chosen} seq={chosen} closeTo={hrefOf({ workspace, page, rest: [], query })} />}
      </div>
      <div class="row">
        {more && (
          <button type="button" disabled={isLoading} onClick={more}>
            {texts.common.more}
          </button>
        )}
        <span class="dim">{value && words.shown(value.length)}</span>
      </div>
      <Export />
    </Page>
  );
}
