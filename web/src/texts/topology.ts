export const topology = {
  title: 'Topology',
  picture: (nodes: number, edges: number) =>
    `${nodes} ${nodes === 1 ? 'group or peer' : 'groups and peers'} and ${edges} ${edges === 1 ? 'connection' : 'connections'} between them. The list beside the picture has all of it.`,
  drawn: (edges: string) => `${edges} connections drawn.`,
  more: (count: string) => `${count} more, narrow it: only those with most pairs are drawn.`,
  layingOut: 'Placing the groups…',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit',
  anew: 'Place anew',
  anewWhy: 'Forgets where everything stood',
  pathsNotThen: 'Paths are known of now alone.',
  legend: 'Lines',
  paths: {
    direct: 'direct',
    relayed: 'relayed',
    failed: 'no path',
    none: 'no path reported',
  },
  pathCounts: (direct: number, relayed: number, failed: number) =>
    [
      [direct, 'direct'],
      [relayed, 'relayed'],
      [failed, 'without a path'],
    ]
      .filter(([count]) => count !== 0)
      .map(([count, what]) => `${count} ${what}`)
      .join(', '),
  path: 'Path',
  list: 'Groups and peers',
  find: 'Find in the list',
  expand: (name: string) => `Show the peers of ${name}`,
  openPeer: (name: string) => `Open ${name}`,
  reaches: 'Reaches',
  reachedBy: 'Reached by',
  within: 'Among themselves',
  nothing: 'Nothing.',
  pick: 'Pick a group or a peer, in the picture or here.',
  whoReaches: (name: string) => `Who reaches ${name}?`,
  unpick: 'All groups and peers',
  both: (name: string) => `Back to ${name}`,
  pairs: (open: string, pairs: string) => `${open} of ${pairs} pairs`,
  noQuestion: 'No label names this group: show its peers to ask about them.',
} as const;
