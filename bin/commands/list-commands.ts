import type { Command } from 'commander';
import { type Answer, answering, yamlOf } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { LISTINGS, type Listing } from './lists.ts';
import { fieldsOf, labelsOf, optionOf, pathFieldsOf, valuesOf } from './operation-options.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { textOf } from './table.ts';
import { withTarget } from './target.ts';

/** `mesh peers`, `mesh policies` and the like: a table, or one entry of it in full. */
export function addListCommands(program: Command): void {
  for (const listing of LISTINGS) addListCommand(program, listing);
}

type ListOptions = TargetOptions & Readonly<Record<string, unknown>> & { readonly labels?: string };
interface Page {
  readonly items: readonly { readonly labels?: Readonly<Record<string, string>> }[];
  readonly next_cursor?: string;
}

/** Pages are the command's own matter where all of them are shown. */
const PAGING = ['cursor', 'limit'];
/** The most that one page holds. */
const PAGE = 200;

function addListCommand(program: Command, listing: Listing): void {
  const { verb, description, list, one, columns, isWhole } = listing;
  const command = withTarget(program.command(verb).description(description));
  const inPath = pathFieldsOf(list);
  const fields = fieldsOf(list).filter(({ name }) => !inPath.includes(name) && !(isWhole && PAGING.includes(name)));
  const isFilteredHere = listing.isLabelled === true && !fields.some(({ name }) => name === 'labels');
  if (one) command.argument(`[${nounOf(verb)}]`, 'id or name, to show it alone');
  for (const field of fields) command.addOption(optionOf(field));
  if (isFilteredHere) command.option('--labels <key=value,...>', 'only what has these labels');
  answering(command, async (...args: unknown[]): Promise<Answer> => {
    const [id, options] = (one ? args : [undefined, ...args]) as [string | undefined, ListOptions];
    const target = targetOf(options);
    if (one && id !== undefined) {
      const value = await callOperation(target, one, { [pathFieldsOf(one)[0] ?? 'id']: id });
      return { value, text: isPage(value) ? textOf(value, columns) : (await yamlOf(value)).trimEnd() };
    }
    const values = valuesOf(fields, options);
    const page = isWhole ? await allPages(target, list, values) : await callOperation(target, list, values);
    const labels = isFilteredHere ? Object.entries(labelsOf(options.labels ?? '', '--labels')) : [];
    const { items } = page as Page;
    const value = {
      ...(page as Page),
      items: items.filter((item) => labels.every(([key, wanted]) => item.labels?.[key] === wanted)),
    };
    return { value, text: textOf(value, columns) };
  });
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
