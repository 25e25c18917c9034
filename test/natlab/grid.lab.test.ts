import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { askGeneration } from '../../client/tunnel/generation.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged, isLong } from '../kits/lab/privileged.ts';
import { gridLab, isDirectPossible, PAIRS, type Pair, PLACES, type Place } from './grid.ts';
import { type Found, meet } from './meet.ts';

/** A sample of every kind of meeting; the long run takes all. */
const SAMPLE: readonly (readonly [Place, Place])[] = [
  ['open', 'firewall'],
  ['open', 'hard'],
  ['open', 'ipv6'],
  ['easy', 'easy'],
  ['easy', 'lan'],
  ['easy', 'hard'],
  ['hard', 'hard'],
  ['easy', 'ipv6'],
];
const pairs = isLong ? PAIRS : PAIRS.filter(({ places: [a, b] }) => SAMPLE.some(([c, d]) => a === c && b === d));
describePrivileged('nodes behind every kind of NAT', () => {
  it(
    'meet directly where that is possible and over the relay where it is not, and traffic flows between all',
    async () => {
      const mixesFamilies = (await askGeneration()) === 'one-by-one';
      const isDirect = ({ places }: Pair) => isDirectPossible(places, mixesFamilies);
      const names = new Set(pairs.flatMap(({ nodes }) => nodes));
      await using lab = await natlab(gridLab(names));
      await using plane = await startLabPlane(lab);
      const nodes = new Map(Object.entries(await labNodes(lab, plane, [...names])));
      for (const node of nodes.values()) await node.until(({ node: { address } }) => address !== null);
      const seen = new Map<Pair, Found>();
      for (const pair of pairs) seen.set(pair, await meet(pair, isDirect(pair), nodes));
      for (const node of nodes.values()) await node.stop();

      const path = (pair: Pair) => `${pair.places.join(' - ')}: ${seen.get(pair)?.path}`;
      const expected = (pair: Pair) => `${pair.places.join(' - ')}: ${isDirect(pair) ? 'direct' : 'relayed'}`;
      expect(pairs.map(path)).toEqual(pairs.map(expected));
      if (isLong && mixesFamilies) writeFileSync('docs/nat-grid.md', page(seen));
    },
    isLong ? 600_000 : 180_000,
  );
});

function page(seen: ReadonlyMap<Pair, Found>): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  const rows = [...seen].map(
    ([
      {
        places: [a, b],
      },
      { path, endpoint },
    ]) => {
      const family = path === 'relayed' ? 'TCP to the relay' : endpoint.startsWith('[') ? 'UDP, IPv6' : 'UDP, IPv4';
      return `| ${a} | ${b} | ${path} | ${family} |`;
    },
  );
  const places = Object.entries(PLACES).map(([name, what]) => `- **${name}**: ${what}`);
  return `# Paths between nodes

\`MESH_LONG=1 npx vitest run --project lab test/natlab/grid\`, ${new Date().toISOString().slice(0, 10)}, commit ${commit}: real
nodes with real WireGuard in network namespaces, NAT by Linux nftables. A pair counts when five of five packets were answered
in both directions over the path shown.

${places.join('\n')}

| One | Other | Path | Carried by |
| --- | --- | --- | --- |
${rows.join('\n')}

A NAT that draws a new port for every destination does not show which port the next one will be: two of them, or one and a
side that filters by address and port, leave the relay. No router here carries IPv6, so a node with IPv6 alone meets nodes
behind NAT over the relay. With a wireguard-go since 2023 a node that has IPv4 uses IPv4 alone ([decision 0017](decisions/0017-one-family.md)): it meets nodes
with IPv6 alone over the relay, and all others as above, by IPv4.

Nodes [without root](userspace.md) meet each other and nodes with an interface by the same paths (\`test/natlab/userspace-grid.lab.test.ts\`): a
sample of each place in every run, all 77 pairs with \`MESH_LONG=1\`. Such a node has both families at once with any wireguard-go at the other end.

Back to [all pages](README.md). Next: [platforms.md](platforms.md), [relays.md](relays.md).
`;
}
