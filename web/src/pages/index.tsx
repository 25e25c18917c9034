import type { ComponentType } from 'preact';
import { pagesOfPast } from '../route/past.ts';
import { texts } from '../texts/texts.ts';

type PageName = keyof typeof texts.shell.pages;

interface PageEntry {
  /** Reads the page's own script, once it is opened. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Without it the page is not offered. */
  readonly scope?: string;
  /** Heading above it in the side bar. */
  readonly group?: string;
  /** Reached from other pages, not from the side bar. */
  readonly isHidden?: boolean;
  /** Shows nothing in the Community edition. */
  readonly isPro?: boolean;
  /** Shows the network as it was at the time that is looked at (`?at=`). */
  readonly hasPast?: boolean;
  /** Tables and graphs that use the whole width. */
  readonly isWide?: boolean;
}

/** The pages, in the order of the side bar. */
export const PAGES: Partial<Record<PageName, PageEntry>> = {
  home: { load: () => import('./home/home.tsx') },
  review: { load: () => import('./review/review.tsx'), scope: 'network:read' },
  change: { load: () => import('./change/change.tsx'), scope: 'intents:plan', isPro: true },
  peers: {
    load: () => import('./peers/peers.tsx'),
    scope: 'network:read',
    group: 'Network',
    isWide: true,
    hasPast: true,
  },
  topology: { load: () => import('./topology/topology.tsx'), scope: 'network:read', isWide: true, hasPast: true },
  reachability: {
    load: () => import('./reachability/reachability.tsx'),
    scope: 'network:read',
    isWide: true,
    hasPast: true,
  },
  networks: { load: () => import('./networks/networks.tsx'), scope: 'network:read', isWide: true, hasPast: true },
  policies: { load: () => import('./policies/policies.tsx'), scope: 'network:read', isWide: true, hasPast: true },
  join: { load: () => import('./join/join.tsx'), scope: 'tokens:write' },
  time: { load: () => import('./time/time.tsx'), scope: 'snapshots:read', group: 'Past', hasPast: true, isPro: true },
  ask: { load: () => import('./ask/ask.tsx'), scope: 'snapshots:read', isPro: true },
  agents: {
    load: () => import('./agents/agents.tsx'),
    scope: 'network:read',
    group: 'People and agents',
    isWide: true,
  },
  connect: { load: () => import('./connect/connect.tsx'), scope: 'network:read', isHidden: true },
  compliance: {
    load: () => import('./compliance/compliance.tsx'),
    scope: 'compliance:assess',
    group: 'Evidence',
    isPro: true,
  },
  audit: { load: () => import('./audit/audit.tsx'), scope: 'audit:read', isWide: true },
  settings: { load: () => import('./settings/settings.tsx'), group: 'Administration' },
};

pagesOfPast.value = Object.entries(PAGES).flatMap(([name, { hasPast }]) => (hasPast ? [name] : []));

export function pageOf(name: string): PageEntry | undefined {
  return Object.hasOwn(PAGES, name) ? PAGES[name as PageName] : undefined;
}

export function titleOf(name: string): string {
  return texts.shell.pages[name as PageName];
}
