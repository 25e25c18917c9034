import { computed, type ReadonlySignal, signal } from '@preact/signals';

/** What the address asks for: `#/<workspace>/<page>/<rest…>?<query>`. */
export interface Route {
  readonly workspace: string;
  readonly page: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed((): Route => parseRoute(hash.value));

const parts = new Map<string, ReadonlySignal<string | null>>();

/** Returns one part of the query. Whoever reads it is told when this part changes, and not of the rest of the address. */
export function queryPart(name: string): string | null {
  const known = parts.get(name) ?? computed(() => route.value.query.get(name));
  parts.set(name, known);
  return known.value;
}

/** In place of a workspace in the address of a page that the person chooses one for. No slug is spelled so. */
export const ANY_WORKSPACE = '~';

/** Links of plans name no workspace: `#/workflows/<id>`. */
export const WORKFLOWS = 'workflows';

export function parseRoute(text: string): Route {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split('?', 2);
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const [first = ''] = parts;
  const [workspace = '', page = '', ...rest] = first === WORKFLOWS ? ['', ...parts] : parts;
  return { workspace, page, rest, query: new URLSearchParams(query) };
}

export function hrefOf({ workspace, page, rest = [], query }: Partial<Route> & Pick<Route, 'workspace'>): string {
  const path = [workspace, page ?? '', ...rest]
    .filter((part) => part !== '')
    .map(encodeURIComponent)
    .join('/');
  const asked = query?.toString() ?? '';
  return `#/${path}${asked === '' ? '' : `?${asked}`}`;
}

/** The address of a page in the workspace of this one. The time that is looked at goes along. */
export function linkTo(
  page: string,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const { workspace, query: now } = route.value;
  const at = now.get('at');
  return hrefOf({ workspace, page, rest, query: new URLSearchParams({ ...(at && { at }), ...query }) });
}

/** The page is another one in this instant: a key that comes before the browser tells of it is not for the page before. */
export function goTo(href: string): void {
  location.hash = href;
  hash.value = location.hash;
}

/** Changes the query of this page; an empty value takes it out. The way back leads to the page before, not to each letter. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { query, ...rest } = route.value;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  replaceAddress(hrefOf({ ...rest, query: next }));
}

/** Another address for the same page: the way back does not lead to the one before. */
export function replaceAddress(href: string): void {
  history.replaceState(null, '', href);
  hash.value = href;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
