import type { Command } from 'commander';
import type { Columns } from '../core/base/operation.ts';
import { type Answer, answering, formatIn } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { LISTINGS, type Listing } from './lists.ts';
import { fieldsOf, labelsOf, optionOf, pathFieldsOf, typedValue, valuesOf } from './operation-options.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

type ListOptions = TargetOptions &
  Parameters<typeof formatIn>[0] &
  Readonly<Record<string, unknown>> & { readonly labels?: string };
type Labels = Readonly<Record<string, string>>;
interface Page {
  readonly items: readonly { readonly labels?: Labels }[];
  readonly next_cursor?: string;
}

/** A page of resources as documents. */
interface DocumentPage {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly labels?: Labels } }[];
}

/** Pages are the command's own matter where all of them are shown. */
const PAGING = ['cursor', 'limit'];
/** The most that one page holds. */
const PAGE = 200;

/** `mesh peers`, `mesh policies` and the like: a table, or one entry of it in full. */
export async function defineList(command: Command): Promise<void> {
  const verb = command.name() as keyof typeof LISTINGS;
  const listing: Listing = await LISTINGS[verb]();
  const { list, one, isWhole } = listing;
  withTarget(command);
  const inPath = pathFieldsOf(list);
  const left = [...inPath, ...(isWhole ? PAGING : []), listing.without];
  const fields = fieldsOf(list).filter(({ name }) => !left.includes(name));
  const isFilteredHere = listing.isLabelled === true && !fields.some(({ name }) => name === 'labels');
  if (one) command.argument(`[${nounOf(verb)}]`, 'id or name, to show it alone');
  for (const field of fields) command.addOption(optionOf(field));
  if (isFilteredHere) command.option('--labels <key=value,...>', 'only what has these labels');
  answering(command, async (...args: unknown[]): Promise<Answer> => {
    const [id, options] = (one ? args : [undefined, ...args]) as [string | undefined, ListOptions];
    const target = targetOf(options);
    const asDocuments = formatIn(options) === 'yaml';
    if (one && id !== undefined) {
      const value = await callOperation(target, one, itemInputOf(one, id), howOf(one, asDocuments));
      return { value, ...(isPage(value) && { columns: one.columns }) };
    }
    const values = valuesOf(fields, options);
    const labels = isFilteredHere ? Object.entries(labelsOf(options.labels ?? '', '--labels')) : [];
    const hasLabels = (of: Labels | undefined) => labels.every(([key, wanted]) => of?.[key] === wanted);
    if (asDocuments && list.shows) {
      const { items, ...head } = await documentsOf(target, list, values);
      return { value: { ...head, items: items.filter(({ metadata }) => hasLabels(metadata.labels)) } };
    }
    const page = isWhole ? await allPages(target, list, values) : await callOperation(target, list, values);
    const { items } = page as Page;
    const value = {
      ...(page as Page),
      items: items.filter((item) => hasLabels(item.labels)),
    };
    return { value, columns: columnsFor(list, values) };
  });
}

/** The one that an argument names. */
function itemInputOf(one: Listing['list'], id: string): Record<string, unknown> {
  const name = pathFieldsOf(one)[0] ?? 'id';
  const field = fieldsOf(one).find((each) => each.name === name);
  return { [name]: field ? typedValue(field, id) : id };
}

/** Where only some fields are asked for, those. */
function columnsFor({ columns = {} }: Listing['list'], { fields }: Readonly<Record<string, unknown>>): Columns {
  if (!Array.isArray(fields)) return columns;
  const asked = ['name', 'id', ...(fields as string[])];
  const known = Object.entries(columns).filter(([, path]) => asked.includes(path.split('.')[0] ?? ''));
  const others = asked.filter((field) => !known.some(([, path]) => path.split('.')[0] === field));
  return { ...Object.fromEntries(known), ...Object.fromEntries(others.map((field) => [field, field])) };
}

export function nounOf(verb: string): string {
  return verb.replace(/ies$/, 'y').replace(/s$/, '');
}

function isPage(value: unknown): value is Page {
  return Array.isArray((value as Page).items);
}

/** Every page as one. */
export async function allPages(
  target: Target,
  list: Listing['list'],
  values: object,
  timeoutMs?: number,
): Promise<Page> {
  const items: Page['items'][number][] = [];
  for (let cursor: string | undefined; ; ) {
    const asked = { ...values, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = (await callOperation(target, list, asked, timeoutMs === undefined ? {} : { timeoutMs })) as Page;
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === undefined) return { items };
  }
}

function howOf({ shows }: Listing['list'], asDocuments: boolean): { readonly asDocuments?: true } {
  return asDocuments && shows ? { asDocuments } : {};
}

/** Every page as one list that `mesh apply` takes. */
async function documentsOf(target: Target, list: Listing['list'], values: object): Promise<DocumentPage> {
  const items: DocumentPage['items'][number][] = [];
  for (let cursor: string | undefined; ; ) {
    const asked = { ...values, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = (await callOperation(target, list, asked, { asDocuments: true })) as DocumentPage;
    items.push(...page.items);
    cursor = page.metadata.continue;
    if (cursor === undefined) return { ...page, items };
  }
}
