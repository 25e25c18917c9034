import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { NOW } from './models.testkit.ts';
import type { AllowedPorts, PortRange } from './port-sets.ts';
import { simulate, simulateInputSchema } from './simulate.ts';

const ports = z.union([z.literal('ALL'), z.array(z.tuple([z.enum(['TCP', 'UDP', 'SCTP']), z.number(), z.number()]))]);
const peer = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), ip: z.string().optional() });
const external = z.object({ name: z.string(), range: z.tuple([z.string(), z.string()]) });
const policy = z.looseObject({ name: z.string() });
const corpusSchema = z.object({
  cases: z.array(
    z.object({
      id: z.string(),
      semantics: z.enum(['np', 'tiered']),
      ipBlockMatchesPeers: z.boolean().nullable(),
      probes: z.array(z.tuple([z.enum(['TCP', 'UDP', 'SCTP']), z.number()])).optional(),
      peers: z.array(peer),
      externals: z.array(external),
      policies: z.array(policy),
      expected: z.array(z.tuple([z.number(), z.number(), ports])),
    }),
  ),
  diffs: z.array(
    z.object({
      id: z.string(),
      semantics: z.enum(['np', 'tiered']),
      endpoints: z.array(z.object({ name: z.string(), range: z.tuple([z.string(), z.string()]).optional() })),
      from: z.object({ peers: z.array(peer), policies: z.array(policy) }),
      to: z.object({ peers: z.array(peer), policies: z.array(policy) }),
      expected: z.array(z.tuple([z.enum(['added', 'removed', 'changed']), z.number(), z.number(), ports, ports])),
    }),
  ),
});
type Corpus = z.output<typeof corpusSchema>;
type Case = Corpus['cases'][number];
type State = Corpus['diffs'][number]['from'];
type Ports = z.output<typeof ports>;

const FILE = 'reachability-cases.json.gz';
const checkout = join(import.meta.dirname, '..', '..');
const folders = [process.env['MESH_SHARED'], join(checkout, '../shared'), join(checkout, '../../shared')];
const file = folders.flatMap((folder) => (folder ? [join(folder, 'data', FILE)] : [])).find(existsSync);
const corpus: Corpus = file
  ? corpusSchema.parse(JSON.parse(gunzipSync(readFileSync(file)).toString()))
  : { cases: [], diffs: [] };
const why = file ? '' : ` (not run: no ${FILE} beside the checkout; set MESH_SHARED to its folder)`;

/** The corpus keeps `policyTypes` beside the rules; here a direction applies when its key is present. */
function inputOf(
  state: State,
  externals: readonly { name: string; range: readonly [string, string] }[],
  addresses = true,
) {
  return simulateInputSchema.parse({
    peers: state.peers.map(({ name, labels, ip }) => ({
      name,
      labels,
      ...(addresses && ip !== undefined && { address: ip }),
    })),
    policies: state.policies.map(({ name, policyTypes: _types, tier: _tier, priority: _p, order: _o, ...spec }) => ({
      name,
      spec,
    })),
    externals: externals.map(({ name, range }) => ({ name, range: range.join('-') })),
  });
}

/** What a case calls everything is every port of the three transports; it knows nothing of ICMP. */
function covers(allowed: AllowedPorts | Ports, protocol: string, port: number): boolean {
  if (allowed === 'ALL') return true;
  return (allowed as (PortRange | readonly [string, number, number])[]).some((range) => {
    const [of, from, to] = 'protocol' in range ? [range.protocol, range.from ?? 1, range.to ?? 65_535] : range;
    return of === protocol && from <= port && port <= to;
  });
}

function normal(allowed: AllowedPorts | Ports): string {
  if (allowed === 'ALL') return 'ALL';
  const rows = (allowed as (PortRange | readonly [string, number, number])[]).map((range) =>
    'protocol' in range ? `${range.protocol} ${range.from}-${range.to}` : `${range[0]} ${range[1]}-${range[2]}`,
  );
  const listed = rows.filter((row) => !row.startsWith('ICMP')).sort();
  return listed.join() === 'SCTP 1-65535,TCP 1-65535,UDP 1-65535' ? 'ALL' : listed.join();
}

function expectedRows(one: Case): string[] {
  const names = [...one.peers, ...one.externals].map(({ name }) => name);
  return render(
    one,
    one.expected.map(([s, d, allowed]) => [names[s] ?? '', names[d] ?? '', allowed] as const),
  );
}

function render(one: Case, rows: readonly (readonly [string, string, AllowedPorts | Ports])[]): string[] {
  return rows
    .map(([src, dst, allowed]) => {
      const hits = one.probes?.filter(([protocol, port]) => covers(allowed, protocol, port));
      return `${src} > ${dst}: ${hits ? hits.map((hit) => hit.join(' ')).join() : normal(allowed)}`;
    })
    .filter((row) => !row.endsWith(': '))
    .sort();
}

describe(`connectivity decided by other implementations${why}`, () => {
  const plain = corpus.cases.filter(({ semantics }) => semantics !== 'tiered');

  test.runIf(file)('all 578 plain cases are here', () => {
    expect(plain).toHaveLength(578);
  });

  test.runIf(file).each(plain)('agrees with $id', (one) => {
    const { rows } = simulate(inputOf(one, one.externals, one.ipBlockMatchesPeers !== false), NOW);
    expect(
      render(
        one,
        rows.map(({ src, dst, allowed }) => [src, dst, allowed] as const),
      ),
    ).toEqual(expectedRows(one));
  });
});

describe(`differences decided by other implementations${why}`, () => {
  const plain = corpus.diffs.filter(({ semantics }) => semantics !== 'tiered');

  test.runIf(file)('all 26 plain differences are here', () => {
    expect(plain).toHaveLength(26);
  });

  test.runIf(file).each(plain)('agrees with $id', (one) => {
    const externals = one.endpoints.flatMap(({ name, range }) => (range ? [{ name, range }] : []));
    const rowsOf = (state: State) =>
      new Map(
        simulate(inputOf(state, externals), NOW).rows.map((row) => [`${row.src}|${row.dst}`, normal(row.allowed)]),
      );
    const before = rowsOf(one.from);
    const after = rowsOf(one.to);
    const found = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
      const [old = '', now = ''] = [before.get(key), after.get(key)];
      const type = old === '' ? 'added' : now === '' ? 'removed' : 'changed';
      return old === now ? [] : [`${type} ${key} ${old} ${now}`];
    });
    const expected = one.expected.map(([type, s, d, old, now]) => {
      const pair = `${one.endpoints[s]?.name}|${one.endpoints[d]?.name}`;
      return `${type} ${pair} ${normal(old)} ${normal(now)}`;
    });
    expect(found.sort()).toEqual(expected.sort());
  });
});
