import { allPages } from '../api/all-pages.ts';
import { api } from '../api/client.ts';
import { holds } from '../api/workspace.ts';
import { PAGES, titleOf } from '../pages/index.tsx';
import { linkTo } from '../route/route.ts';
import { texts } from '../texts/texts.ts';

export interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly href: string;
}

/** Records of one kind that are shown at once. */
const MOST = 6;

/** Pages whose name has the text in it. */
export function pagesLike(text: string): readonly Entry[] {
  return Object.entries(PAGES)
    .filter(([name, { scope }]) => (!scope || holds(scope)) && titleOf(name).toLowerCase().includes(text.toLowerCase()))
    .map(([name]) => ({ kind: texts.palette.page, name: titleOf(name), href: linkTo(name) }));
}

/** What was looked up, as far as it has the text in its name: it may have been looked up for the text before. */
export function recordsLike(text: string, found: readonly Entry[]): readonly Entry[] {
  return text === '' ? [] : found.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
}

/** What may be done with a text that is more than a name: a question of the past, a change that is wanted. */
export function actionsWith(text: string): readonly Entry[] {
  if (!/\S\s+\S/.test(text)) return [];
  const [src = '', dst = '', ...more] = text.trim().split(/\s+/);
  const offers: readonly (readonly [page: string, name: string, query: Readonly<Record<string, string>>])[] = [
    ...(more.length === 0 ? [['reachability', texts.palette.reaches(src, dst), { src, dst }] as const] : []),
    ['change', texts.palette.change(text), { intent: text }],
    ['ask', texts.palette.ask(text), { q: text }],
  ];
  return offers
    .filter(([page]) => isOffered(page))
    .map(([page, name, query]) => ({ kind: titleOf(page), name, href: linkTo(page, [], query) }));
}

function isOffered(page: string): boolean {
  const entry = PAGES[page as keyof typeof PAGES];
  return entry !== undefined && (!entry.scope || holds(entry.scope));
}

/** Names of one page's records that have the text in them, those that begin with it first. */
type Lookup = (text: string, signal: AbortSignal) => Promise<readonly Entry[]>;

/** Looks names up while the palette is open: peers by the control plane, the few policies and agents in lists read once. */
export function buildLookup(): Lookup {
  const lists = new Map<string, Promise<readonly string[]>>();
  const listed = (page: string, read: () => Promise<readonly { readonly name: string }[]>) => {
    const names = lists.get(page) ?? read().then((items) => items.map(({ name }) => name));
    lists.set(page, names);
    return names;
  };
  return async (text, signal) => {
    if (text === '') return [];
    const query = { prefix: text, limit: MOST };
    const found = await Promise.all([
      entriesOf('peers', text, () => namesOf(api.GET('/api/v1/peers', { signal, params: { query } }))),
      entriesOf('policies', text, () => listed('policies', () => allPages(policyPage))),
      entriesOf('agents', text, () => listed('agents', () => allPages(agentPage))),
    ]);
    return found.flat();
  };
}

const policyPage = (cursor: string | undefined) =>
  api.GET('/api/v1/policies', { params: { query: { limit: 200, ...(cursor && { cursor }) } } });

const agentPage = (cursor: string | undefined) =>
  api.GET('/api/v1/agents', { params: { query: { limit: 200, ...(cursor && { cursor }) } } });

async function namesOf(
  call: Promise<{ readonly data?: { readonly items: readonly { readonly name: string }[] } | undefined }>,
): Promise<readonly string[]> {
  return (await call).data?.items.map(({ name }) => name) ?? [];
}

async function entriesOf(
  page: string,
  text: string,
  read: () => Promise<readonly string[]>,
): Promise<readonly Entry[]> {
  if (!isOffered(page)) return [];
  const lower = text.toLowerCase();
  const at = (name: string) => name.toLowerCase().indexOf(lower);
  return (await read())
    .filter((name) => at(name) >= 0)
    .sort((one, other) => at(one) - at(other))
    .slice(0, MOST)
    .map((name) => ({ kind: titleOf(page), name, href: linkTo(page, [name]) }));
}
