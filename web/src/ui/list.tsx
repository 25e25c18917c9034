import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/load.ts';
import { queryPart } from '../route/route.ts';
import { CsvButton } from './csv.tsx';
import { Empty, Page } from './page.tsx';
import { matches, NO_MATCH, SearchBox, Table, type TableProps } from './table.tsx';

interface ListProps<R> extends Omit<TableProps<R>, 'label' | 'read' | 'rows'> {
  readonly title: string;
  readonly of: ReadonlySignal<Loaded<unknown> & { readonly more?: (() => void) | undefined }>;
  readonly rows: ReadonlySignal<readonly R[] | undefined>;
  /** Texts of a row that the search looks through; without it there is no search. */
  readonly textsOf?: (row: R) => readonly string[];
  /** Field of the search in the address. */
  readonly searchField?: string;
  /** Lines of a file, the first with the names of its columns. */
  readonly csv?: (rows: readonly R[]) => readonly (readonly string[])[];
  readonly actions?: ComponentChildren;
  /** Where else to look for a text that no row has. */
  readonly elsewhere?: (search: string) => ComponentChildren;
}

interface ListPageProps<R> extends ListProps<R> {
  /** Stands beside the list. */
  readonly details?: ComponentChildren;
  /** Stands above the list. */
  readonly children?: ComponentChildren;
}

/** A page that is a list: search, CSV and actions in its head, the rows, and beside them the one that is open. */
export function ListPage<R>({ details, children, ...props }: ListPageProps<R>) {
  const { head, list, foot } = useList(props);
  return (
    <Page title={props.title} actions={head}>
      {children}
      <div class={`beside ${details ? 'chosen' : ''}`}>
        {list}
        {details}
      </div>
      {foot}
    </Page>
  );
}

interface ListSectionProps<R> extends ListProps<R> {
  readonly why?: string;
  /** Stands below the list. */
  readonly children?: ComponentChildren;
}

/** A part of a page that is a list. */
export function ListSection<R>({ why, children, ...props }: ListSectionProps<R>) {
  const { head, list, foot } = useList({ isPart: true, ...props });
  return (
    <section class="stack">
      <h2>{props.title}</h2>
      {why && <p class="dim">{why}</p>}
      {(props.textsOf || props.actions) && <div class="row">{head}</div>}
      {list}
      {foot}
      {children}
    </section>
  );
}

function useList<R>({
  title,
  of,
  rows,
  textsOf,
  searchField = 'q',
  csv,
  actions,
  empty,
  elsewhere,
  ...table
}: ListProps<R>) {
  const found = useComputed(() => {
    const search = queryPart(searchField) ?? '';
    const all = rows.value ?? [];
    return textsOf && search !== '' ? all.filter((row) => matches(search, textsOf(row))) : all;
  });
  const { more, isLoading } = of.value;
  const head = (
    <>
      {textsOf && <SearchBox label={`Search ${title.toLowerCase()}`} field={searchField} />}
      {csv && <CsvButton name={title.toLowerCase()} rows={() => csv(found.value)} />}
      {actions}
    </>
  );
  const list = (
    <Table
      {...table}
      label={title}
      read={of.value}
      rows={found}
      empty={
        <Empty>
          {rows.value?.length === 0 ? empty : NO_MATCH}
          {elsewhere?.(queryPart(searchField) ?? '')}
        </Empty>
      }
    />
  );
  const foot = more && (
    <div class="row">
      <button type="button" disabled={isLoading} onClick={more}>
        Load more
      </button>
    </div>
  );
  return { head, list, foot };
}
