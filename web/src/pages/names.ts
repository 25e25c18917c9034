interface Named {
  readonly title: string;
  /** Where the documentation tells of it. */
  readonly docs: string;
}

/** What each page is called, and the page and heading of the documentation about it. */
export const PAGE_NAMES = {
  home: { title: 'Home', docs: '/docs/dashboard#sections' },
  setup: { title: 'Setup', docs: '/docs/dashboard#setup' },
  review: { title: 'Review', docs: '/docs/dashboard#deciding' },
  change: { title: 'New change', docs: '/docs/dashboard#changing-the-network' },
  peers: { title: 'Peers', docs: '/docs/policy#meshpeer' },
  topology: { title: 'Topology', docs: '/docs/policy#what-nodes-enforce' },
  reachability: { title: 'Reachability', docs: '/docs/policy#reasons-and-warnings' },
  networks: { title: 'Networks', docs: '/docs/policy#meshnetwork' },
  policies: { title: 'Policies', docs: '/docs/policy#meshpolicy' },
  time: { title: 'Time', docs: '/docs/dashboard#the-past' },
  ask: { title: 'Ask', docs: '/docs/history#what-broke-it' },
  agents: { title: 'Agents', docs: '/docs/delegation#root-agents-and-sub-agents' },
  connect: { title: 'Connect an agent', docs: '/docs/mcp#connecting' },
  allow: { title: 'Let a client in', docs: '/docs/oauth#what-you-decide' },
  join: { title: 'Add a device', docs: '/docs/node#three-machines-in-five-minutes' },
  compliance: { title: 'Compliance', docs: '/docs/dashboard#compliance-and-audit' },
  audit: { title: 'Audit', docs: '/docs/audit#what-an-entry-holds' },
  settings: { title: 'Settings', docs: '/docs/dashboard#settings' },
} as const satisfies Record<string, Named>;

export type PageName = keyof typeof PAGE_NAMES;

export function isPageName(name: string): name is PageName {
  return Object.hasOwn(PAGE_NAMES, name);
}

export function titleOf(name: string): string {
  return isPageName(name) ? PAGE_NAMES[name].title : '';
}

/** Returns the address of the documentation about a page; its index where there is none. */
export function docsOf(name: string): string {
  return isPageName(name) ? PAGE_NAMES[name].docs : '/docs';
}
