import type { ComponentType } from 'preact';
import { holds, workspace } from '../api/workspace.ts';
import type { IconName } from '../design/icon.tsx';
import { pagesOfPast } from '../route/past.ts';
import { isPageName, type PageName } from './names.ts';

interface PageEntry {
  /** Reads the page's own script, once it is opened. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Without it the page is not offered. */
  readonly scope?: string;
  /** Reached from other pages, not from the tabs of its section. */
  readonly isHidden?: boolean;
  /** Shows nothing in the Community edition. */
  readonly isPro?: boolean;
  /** Shows the network as it was at the time that is looked at (`?at=`). */
  readonly hasPast?: boolean;
  /** Tables and graphs that use the whole width. */
  readonly isWide?: boolean;
}

const READ = 'network:read';

/** The pages, in the order of the palette. */
export const PAGES: Partial<Record<PageName, PageEntry>> = {
  home: { load: () => import('./home/home.tsx') },
  setup: { load: () => import('./setup/setup.tsx'), scope: 'network:write', isWide: true, isHidden: true },
  review: { load: () => import('./review/review.tsx'), scope: READ },
  change: { load: () => import('./change/change.tsx'), scope: 'intents:plan', isPro: true, isHidden: true },
  peers: { load: () => import('./peers/peers.tsx'), scope: READ, isWide: true, hasPast: true },
  topology: { load: () => import('./topology/topology.tsx'), scope: READ, isWide: true, hasPast: true },
  reachability: { load: () => import('./reachability/reachability.tsx'), scope: READ, isWide: true, hasPast: true },
  networks: { load: () => import('./networks/networks.tsx'), scope: READ, isWide: true, hasPast: true },
  policies: { load: () => import('./policies/policies.tsx'), scope: READ, isWide: true, hasPast: true },
  join: { load: () => import('./join/join.tsx'), scope: 'tokens:write' },
  time: { load: () => import('./time/time.tsx'), scope: 'snapshots:read', hasPast: true, isPro: true },
  ask: { load: () => import('./ask/ask.tsx'), scope: 'snapshots:read', isPro: true },
  agents: { load: () => import('./agents/agents.tsx'), scope: READ, isWide: true },
  allow: { load: () => import('./allow/allow.tsx'), isHidden: true },
  connect: { load: () => import('./connect/connect.tsx'), scope: READ, isHidden: true },
  compliance: { load: () => import('./compliance/compliance.tsx'), scope: 'compliance:assess', isPro: true },
  audit: { load: () => import('./audit/audit.tsx'), scope: 'audit:read', isWide: true },
  settings: { load: () => import('./settings/settings.tsx') },
};

/** Pages of the development server, which no build has. */
const DEVELOPMENT: Readonly<Record<string, PageEntry>> = import.meta.env.DEV
  ? { design: { load: () => import('./design/design.tsx'), isWide: true } }
  : {};

/** An entry of the side bar. The first of its pages that the person may see is where it leads. */
export interface Section {
  readonly title: string;
  readonly icon: IconName;
  readonly pages: readonly PageName[];
  /** Stands in the bar at the foot of a narrow window; the others are one step further. */
  readonly isFirst?: boolean;
}

export const SECTIONS: readonly Section[] = [
  { title: 'Home', icon: 'house', pages: ['home', 'setup'], isFirst: true },
  { title: 'Review', icon: 'inbox', pages: ['review'], isFirst: true },
  {
    title: 'Network',
    icon: 'network',
    pages: ['peers', 'topology', 'reachability', 'networks', 'join'],
    isFirst: true,
  },
  { title: 'Policies', icon: 'shield', pages: ['policies'] },
  { title: 'Time', icon: 'clock', pages: ['time', 'ask'], isFirst: true },
  { title: 'Agents', icon: 'bot', pages: ['agents', 'connect', 'allow'] },
  { title: 'Compliance', icon: 'clipboard-check', pages: ['compliance'] },
  { title: 'Audit', icon: 'scroll-text', pages: ['audit'] },
  { title: 'Settings', icon: 'settings', pages: ['settings'] },
];

pagesOfPast.value = Object.entries(PAGES).flatMap(([name, { hasPast }]) => (hasPast ? [name] : []));

export function pageOf(name: string): PageEntry | undefined {
  if (isPageName(name)) return PAGES[name];
  return Object.hasOwn(DEVELOPMENT, name) ? DEVELOPMENT[name] : undefined;
}

/** Returns true if the person may see a page of the workspace that is open. */
export function isOffered(name: string): boolean {
  const page = pageOf(name);
  return workspace.value !== undefined && page !== undefined && (page.scope === undefined || holds(page.scope));
}

/** Returns the pages of a section that have a tab, as far as the person may see them. */
export function tabsOf({ pages }: Section): readonly PageName[] {
  return pages.filter((name) => isOffered(name) && pageOf(name)?.isHidden !== true);
}
