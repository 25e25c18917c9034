import { allPages } from '../api/all-pages.ts';
import { answer, api } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { readScript } from '../api/script.ts';
import { me } from '../api/session.ts';
import { signOut } from '../api/sign-in.ts';
import { may, workspace } from '../api/workspace.ts';
import { isOffered, PAGES } from '../pages/index.tsx';
import { titleOf } from '../pages/names.ts';
import { lookAmongDeleted } from '../pages/peers/deleted-peers.ts';
import { linkTo } from '../route/route.ts';
import { setTheme, THEME_NAMES } from '../ui/theme.tsx';
import { THEMES } from '../ui/theme-choice.ts';

export interface Entry {
  readonly kind: string;
  readonly name: string;
  /** An address to go to, or what is done. */
  readonly to: string | (() => unknown);
}

export const DELETED_PEERS = 'Deleted peers';

/** Records of one kind that are shown at once. */
const MOST = 6;

/** Pages whose name has the text in it. */
export function pagesLike(text: string): readonly Entry[] {
  return Object.keys(PAGES)
    .filter((name) => isOffered(name) && titleOf(name).toLowerCase().includes(text.toLowerCase()))
    .map((name) => ({ kind: 'Page', name: titleOf(name), to: linkTo(name) }));
}

interface DocsEntry {
  readonly title: string;
  readonly address: string;
  readonly words?: string;
}

/** Reads what the documentation is found by, which is not part of the page. */
export async function readDocs(): Promise<readonly DocsEntry[]> {
  return (await readScript(() => import('../docs/entries.json'))).default;
}

/** Pages and headings of the documentation with all words of the text: in their titles first, else in their first words. */
export function docsLike(text: string, documentation: readonly DocsEntry[]): readonly Entry[] {
  if (text === '') return [];
  const named = documentation.filter(({ title }) => hasWords(title, text));
  const begun = documentation.filter(
    ({ title, words = '' }) => !hasWords(title, text) && hasWords(`${title} ${words}`, text),
  );
  return [...named.filter(isPage), ...begun, ...named.filter((entry) => !isPage(entry))]
    .slice(0, MOST)
    .map(({ title, address }) => ({
      kind: 'Documentation',
      name: title,
      to: () => open(address, '_blank', 'noopener'),
    }));
}

const isPage = ({ words }: DocsEntry) => words !== undefined;

/** Actions whose name has all words of the text in it, as far as the person may do them. */
export function actionsLike(text: string): readonly Entry[] {
  if (text === '') return [];
  return actions()
    .filter(([name]) => hasWords(name, text))
    .map(([name, to]) => ({ kind: 'Action', name, to }));
}

function hasWords(name: string, text: string): boolean {
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word));
}

function actions(): readonly (readonly [name: string, to: Entry['to']])[] {
  const linked: readonly (readonly [isAllowed: boolean, name: string, href: string])[] = [
    [isOffered('change'), 'New change', linkTo('change')],
    [may('network:write'), 'New policy', linkTo('policies', [], { view: 'new' })],
    [may('tokens:write'), 'Invite a device', linkTo('join')],
    [may('agents:write'), 'Connect an agent', linkTo('connect')],
    [isOffered('compliance'), 'Assess compliance', linkTo('compliance')],
    [me.value?.role === 'platform_admin', 'New workspace', linkTo('settings', ['workspaces'])],
    [workspace.value !== undefined, 'Change your password', linkTo('settings', ['account'])],
  ];
  return [
    ...linked.flatMap(([isAllowed, name, href]) => (isAllowed ? [[name, href] as const] : [])),
    ...THEMES.map((name) => [THEME_NAMES[name], () => setTheme(name)] as const),
    ['Sign out', () => signOut().catch(() => undefined)],
  ];
}

/** What was looked up, as far as it has the text in its name: it may have been looked up for the text before. */
export function recordsLike(text: string, found: readonly Entry[]): readonly Entry[] {
  return text === '' ? [] : found.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
}

type Offer = readonly [page: string, name: string, query: Readonly<Record<string, string>>];

const QUESTION_WORDS: ReadonlySet<string> = new Set(['who', 'what', 'when', 'why', 'which', 'how']);

/** What may be done with a text that is more than a name: a question of the past, a change that is wanted. */
export function actionsWith(text: string): readonly Entry[] {
  if (!/\S\s+\S/.test(text)) return [];
  const [src = '', dst = '', ...more] = text.trim().split(/\s+/);
  const change: Offer = ['change', `Plan a change: ${text}`, { intent: text }];
  const ask: Offer = ['ask', `Ask the history: ${text}`, { q: text }];
  const isQuestion = text.endsWith('?') || QUESTION_WORDS.has(src.toLowerCase());
  const offers: readonly Offer[] = [
    ...(more.length === 0 ? [['reachability', `Can ${src} reach ${dst}?`, { src, dst }] as const] : []),
    ...(isQuestion ? [ask, change] : [change, ask]),
  ];
  return offers
    .filter(([page]) => isOffered(page))
    .map(([page, name, query]) => ({ kind: titleOf(page), name, to: linkTo(page, [], query) }));
}

/** For a text that names nothing that there is. */
export function deletedPeersWith(text: string): readonly Entry[] {
  const link = isOffered('peers') ? lookAmongDeleted(text) : undefined;
  return link ? [{ kind: DELETED_PEERS, name: link.text, to: link.href }] : [];
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
      isAddress(text) ? peerWithAddress(text, signal) : [],
      entriesOf('peers', text, () => namesOf(api.GET('/api/v1/peers', { signal, params: { query } }))),
      entriesOf('policies', text, () => listed('policies', () => allPages(policyPage))),
      entriesOf('agents', text, () => listed('agents', () => allPages(agentPage))),
    ]);
    return found.flat();
  };
}

/** Tells whether a text may be a whole address, IPv4 or IPv6. */
function isAddress(text: string): boolean {
  if (/^[\d.]{7,15}$/.test(text)) return text.split('.').length === 4;
  return /^[0-9a-f:]{2,39}$/i.test(text) && text.split(':').length > 2;
}

async function peerWithAddress(address: string, signal: AbortSignal): Promise<readonly Entry[]> {
  if (!isOffered('peers')) return [];
  try {
    const { name } = await answer(api.GET('/api/v1/peers/{id}', { signal, params: { path: { id: address } } }));
    return [{ kind: titleOf('peers'), name: `${name} (${address})`, to: linkTo('peers', [name]) }];
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return [];
    throw error;
  }
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
    .map((name) => ({ kind: titleOf(page), name, to: linkTo(page, [name]) }));
}
