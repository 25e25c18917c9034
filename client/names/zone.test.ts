import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../core/model/cidr.ts';
import { NAME_PATTERN } from '../../core/model/resources.ts';
import { graphOf, peerOf } from '../agent/overlay.testkit.ts';
import { RCODE, TYPE } from './message.ts';
import { reverseLabels, reverseZones } from './reverse.ts';
import { zoneOf } from './zone.ts';

const self = { ...graphOf([]).self, workspace: 'prod' };

function asked(names: readonly string[], name: string, type: number = TYPE.A, own = self): unknown {
  const zone = zoneOf(graphOf(names, { self: own }));
  const query = {
    labels: name.toLowerCase().split('.'),
    type,
    isInternet: true,
    id: 1,
    flags: 0,
    question: Buffer.alloc(0),
  };
  const reply = zone?.answer({ ...query, edns: 'none' });
  if (reply?.rcode !== RCODE.ok) return reply?.rcode;
  return reply.records.map((record) =>
    'address' in record ? [...record.address].join('.') : 'labels' in record ? record.labels.join('.') : 'soa',
  );
}

describe('a name', () => {
  test.each([
    ['db-1', 'db-1.prod.mesh.internal'],
    ['DB_1', 'db_1.prod.mesh.internal'],
    ['web.eu', 'web.eu.prod.mesh.internal'],
    ['-x-', '-X-.PROD.mesh.internal'],
  ])('of a peer, %s, is asked for as %s', (name, question) => {
    expect(asked([name], question)).toEqual(['10.96.0.2']);
  });

  test('of this node itself is known', () => {
    expect(asked([], 'self.prod.mesh.internal')).toEqual(['10.96.0.1']);
  });

  test.each(['.db', 'db.', 'a..b'])('with an empty part, %s, stands for nobody', (name) => {
    expect(asked([name], `${name}.prod.mesh.internal`)).toBe(RCODE.noName);
  });

  test.each(['wpad', 'WPAD', 'isatap', 'localhost'])('that programs trust by itself, %s, stands for nobody', (name) => {
    expect(asked([name], `${name}.prod.mesh.internal`)).toBe(RCODE.noName);
  });

  test('that two peers have but for capitals stands for neither', () => {
    expect(asked(['db', 'DB'], 'db.prod.mesh.internal')).toBe(RCODE.noName);
  });

  test('of a peer that the graph does not have is unknown, as one that never was', () => {
    expect([asked(['a'], 'hidden.prod.mesh.internal'), asked([], 'a.prod.mesh.internal')]).toEqual([3, 3]);
  });

  test('above that of a peer exists, with no address', () => {
    expect(asked(['web.eu'], 'eu.prod.mesh.internal')).toEqual([]);
    expect(asked(['web.eu', 'eu'], 'eu.prod.mesh.internal')).toEqual(['10.96.0.3']);
  });

  test('has no address of the other family, and exists', () => {
    expect(asked(['db'], 'db.prod.mesh.internal', TYPE.AAAA)).toEqual([]);
  });

  test('of another workspace, of the parent and of the internet is refused', () => {
    const names = ['db.dev.mesh.internal', 'mesh.internal', 'internal', 'example.com', '1.0.0.10.in-addr.arpa'];
    expect(names.map((name) => asked(['db'], name))).toEqual(names.map(() => RCODE.refused));
  });

  test('is given to nobody as a whole list', () => {
    expect([TYPE.AXFR, TYPE.IXFR].map((type) => asked(['db'], 'prod.mesh.internal', type))).toEqual([5, 5]);
  });

  test('never stands for two peers, and each that can be asked for stands for its own', () => {
    const name = fc.stringMatching(/^[A-Ca._-]{1,4}$/).filter((text) => NAME_PATTERN.test(text));
    const names = fc.uniqueArray(name, { maxLength: 12, selector: (text) => text.toLowerCase() });
    fc.assert(
      fc.property(names, (all) => {
        for (const [index, each] of all.entries()) {
          const isOne = each.split('.').every((part) => part !== '');
          const answer = asked(all, `${each}.prod.mesh.internal`);
          expect(answer).toEqual(isOne ? [peerOf(each, index).address] : expect.anything());
        }
      }),
    );
  });
});

describe('an address', () => {
  test('of the overlay has the name of its peer, and no other has one', () => {
    expect(asked(['Db_1'], '2.0.96.10.in-addr.arpa', TYPE.PTR)).toEqual(['db_1.prod.mesh.internal']);
    expect(asked(['Db_1'], '9.0.96.10.in-addr.arpa', TYPE.PTR)).toBe(RCODE.noName);
  });

  test('of IPv6 is asked for by its digits', () => {
    const own = { ...self, address: 'fd00::1', cidr: 'fd00::/64' };
    const range = parseAddress('fd00::1');
    expect(asked([], reverseLabels(range ?? { family: 6, from: 0n, to: 0n }).join('.'), TYPE.PTR, own)).toEqual([
      'self.prod.mesh.internal',
    ]);
    expect(asked([], 'self.prod.mesh.internal', TYPE.AAAA, own)).toEqual(['253.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1']);
  });

  test.each([
    ['10.96.0.0/24', ['0.96.10.in-addr.arpa']],
    ['10.96.0.0/15', ['96.10.in-addr.arpa', '97.10.in-addr.arpa']],
    ['10.96.0.4/31', ['4.0.96.10.in-addr.arpa', '5.0.96.10.in-addr.arpa']],
    ['fd00:1::/32', ['1.0.0.0.0.0.d.f.ip6.arpa']],
    ['nothing', []],
  ])('of %s ends in %j', (cidr, zones) => {
    expect(reverseZones(cidr).map((labels) => labels.join('.'))).toEqual(zones);
  });
});

test('a graph of a control plane that does not say what names end in has none', () => {
  expect(zoneOf(graphOf(['a']))).toBeUndefined();
});
