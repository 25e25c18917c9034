import { expect, it } from 'vitest';
import { askGeneration } from '../../client/tunnel/generation.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged, isLong } from '../kits/lab/privileged.ts';
import { UserspaceNode } from '../kits/lab/userspace-node.ts';
import { gridLab, hostsOf, isDirectPossible, PAIRS, type Pair, PLACES, type Place } from './grid.ts';
import { meet } from './meet.ts';

const ALL = Object.keys(PLACES) as Place[];
/** The second host of each place has a node with an interface, the others have nodes of ordinary users. */
const hasInterface = (name: string) => name.endsWith('-2');

/** Two nodes of ordinary users. */
const ALIKE: readonly Pair[] = PAIRS.map(({ places: [a, b] }) => ({
  places: [a, b],
  nodes: [hostsOf(a)[0], hostsOf(b)[a === b ? 2 : 0]],
}));
/** Such a node, and one with an interface. */
const MIXED: readonly Pair[] = ALL.flatMap((a) =>
  ALL.map((b) => ({ places: [a, b], nodes: [hostsOf(a)[0], hostsOf(b)[1]] })),
);

/** Each place with and without a direct path, where it has both; the long run takes all. */
const ALIKE_SAMPLE = [
  'open firewall',
  'open hard',
  'easy hard',
  'easy lan',
  'easy double',
  'hard double',
  'open ipv6',
  'lan ipv6',
];
const MIXED_SAMPLE = [...ALL.map((place) => `${place} easy`), 'hard hard', 'hard open', 'ipv6 open'];
const among =
  (sample: readonly string[]) =>
  ({ places }: Pair) =>
    isLong || sample.includes(places.join(' '));
const pairs = [...ALIKE.filter(among(ALIKE_SAMPLE)), ...MIXED.filter(among(MIXED_SAMPLE))];

describePrivileged('nodes of ordinary users behind every kind of NAT', () => {
  it(
    'meet each other and nodes with an interface directly where nodes with an interface would, and over the relay elsewhere',
    async () => {
      const isOneByOne = (await askGeneration()) === 'one-by-one';
      const isDirect = ({ places, nodes }: Pair) => {
        const withIpv4 = nodes[places[0] === 'ipv6' ? 1 : 0];
        return isDirectPossible(places, isOneByOne || !hasInterface(withIpv4));
      };
      const names = new Set(pairs.flatMap(({ nodes }) => nodes));
      await using lab = await natlab(gridLab(names));
      await using plane = await startLabPlane(lab);
      const started = await labNodes(lab, plane, [...names], undefined, (host) =>
        hasInterface(host.name) ? new LabNode(host) : new UserspaceNode(host),
      );
      const nodes = new Map(Object.entries(started));
      for (const node of nodes.values()) await node.until(({ node: { address } }) => address !== null);
      const path = ({ nodes: names }: Pair, way: string | undefined) => `${names.join(' - ')}: ${way}`;
      const seen = await Promise.all(
        pairs.map(async (pair) => path(pair, (await meet(pair, isDirect(pair), nodes)).path)),
      );
      expect(seen).toEqual(pairs.map((pair) => path(pair, isDirect(pair) ? 'direct' : 'relayed')));
      for (const node of nodes.values()) expect(await node.stop()).toBe(0);
    },
    isLong ? 600_000 : 180_000,
  );
});
