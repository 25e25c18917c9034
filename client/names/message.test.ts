import { decode, encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graphOf } from '../agent/overlay.testkit.ts';
import { respond } from './listener.ts';
import { RCODE, readQuery } from './message.ts';
import { zoneOf } from './zone.ts';

const self = { ...graphOf([]).self, workspace: 'prod' };
const zone = (() => {
  const made = zoneOf(graphOf(['db-1', 'web.eu'], { self }));
  if (!made) throw new Error('no zone');
  return made;
})();
const ask = (name: string, type: 'A' | 'AAAA' | 'PTR' | 'SOA' = 'A', more: Partial<Packet> = {}) =>
  encode({ type: 'query', id: 7, flags: 0x100, questions: [{ name, type }], ...more });
const answered = (query: Uint8Array) => decode(Buffer.from(respond(zone, query) ?? []));

describe('as another implementation of DNS reads it, the answer', () => {
  test('has the address of a name, and the question as it was asked', () => {
    expect(answered(ask('Db-1.prod.Mesh.internal'))).toMatchObject({
      id: 7,
      type: 'response',
      flag_aa: true,
      flag_rd: true,
      flag_ra: false,
      rcode: 'NOERROR',
      questions: [{ name: 'Db-1.prod.Mesh.internal', type: 'A', class: 'IN' }],
      answers: [{ name: 'Db-1.prod.Mesh.internal', type: 'A', ttl: 5, data: '10.96.0.2' }],
      authorities: [],
    });
  });

  test('names the zone where there is no such name, so that it may be kept for a moment', () => {
    expect(answered(ask('db-2.prod.mesh.internal'))).toMatchObject({
      rcode: 'NXDOMAIN',
      answers: [],
      authorities: [{ name: 'prod.mesh.internal', type: 'SOA', data: { mname: 'prod.mesh.internal', minimum: 5 } }],
    });
  });

  test('has the whole name of an address', () => {
    expect(answered(ask('3.0.96.10.in-addr.arpa', 'PTR')).answers).toMatchObject([
      { name: '3.0.96.10.in-addr.arpa', type: 'PTR', data: 'web.eu.prod.mesh.internal' },
    ]);
  });

  test('has EDNS where the question has it, and tells versions that it does not know', () => {
    const opt = (ednsVersion: number) => [
      {
        name: '.' as const,
        type: 'OPT' as const,
        udpPayloadSize: 4096,
        extendedRcode: 0,
        ednsVersion,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ];
    const known = answered(ask('db-1.prod.mesh.internal', 'A', { additionals: opt(0) }));
    expect(known).toMatchObject({
      answers: [{ data: '10.96.0.2' }],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232 }],
    });
    const unknown = answered(ask('db-1.prod.mesh.internal', 'A', { additionals: opt(1) }));
    expect(unknown).toMatchObject({ answers: [], additionals: [{ type: 'OPT', extendedRcode: 1 }] });
  });
});

describe('whatever arrives,', () => {
  test('a name of the internet is refused at once, with its question', () => {
    const reply = answered(ask('example.com'));
    expect(reply).toMatchObject({
      rcode: 'REFUSED',
      answers: [],
      authorities: [],
      questions: [{ name: 'example.com' }],
    });
  });

  test('an answer is not answered, so that two servers never talk for ever', () => {
    expect(respond(zone, encode({ type: 'response', questions: [{ name: 'a', type: 'A' }] }))).toBeUndefined();
  });

  test.each([
    [
      'two questions',
      encode({
        questions: [
          { name: 'a', type: 'A' },
          { name: 'b', type: 'A' },
        ],
      }),
      RCODE.format,
    ],
    ['no question', encode({}), RCODE.format],
    ['a name that points to itself', Buffer.from('000701000001000000000000c00c00010001', 'hex'), RCODE.format],
    [
      'a name that never ends',
      Buffer.concat([Buffer.from('000701000001000000000000', 'hex'), Buffer.alloc(600, 1)]),
      RCODE.format,
    ],
    ['a label that is longer than the message', Buffer.from('0007010000010000000000003f61', 'hex'), RCODE.format],
    [
      'another kind of request',
      encode({ flags: 4 << 11, questions: [{ name: 'a', type: 'A' }] }),
      RCODE.notImplemented,
    ],
  ])('%s gets a header and nothing more', (_what, query, rcode) => {
    const reply = respond(zone, query);
    expect([reply?.length, (reply?.[3] ?? 0) & 15]).toEqual([12, rcode]);
  });

  test('it neither fails nor grows to more than the question and one record', () => {
    const header = fc
      .tuple(fc.uint8Array({ minLength: 2, maxLength: 2 }), fc.constantFrom(0, 1, 2, 255))
      .map(([id, count]) => Buffer.concat([id, Buffer.from([1, 0, 0, 1, 0, 0, 0, 0, 0, count])]));
    const query = fc.oneof(
      fc.uint8Array({ maxLength: 1_300 }),
      fc.tuple(header, fc.uint8Array({ maxLength: 400 })).map((parts) => Buffer.concat(parts)),
      fc
        .tuple(header, fc.array(fc.uint8Array({ maxLength: 63 }), { maxLength: 5 }), fc.uint8Array({ maxLength: 20 }))
        .map(([head, labels, rest]) =>
          Buffer.concat([
            head,
            ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
            Buffer.alloc(1),
            rest,
          ]),
        ),
      fc
        .tuple(header, fc.constantFrom('\x04db-1', '\x01\xff', ''), fc.integer({ min: 0, max: 65_535 }))
        .map(([head, own, type]) =>
          Buffer.concat([
            head,
            Buffer.from(`${own}\x04prod\x04mesh\x08internal\0`, 'latin1'),
            Buffer.from([type >> 8, type & 255, 0, 1]),
          ]),
        ),
    );
    fc.assert(
      fc.property(query, (bytes) => {
        const reply = respond(zone, bytes);
        if (!reply) return;
        expect(reply.length).toBeLessThanOrEqual(Math.min(bytes.length + 120, 512));
        const read = readQuery(bytes);
        if (!('reject' in read)) expect(Buffer.from(reply.subarray(12)).indexOf(read.question)).toBe(0);
        decode(Buffer.from(reply));
      }),
      { numRuns: 3_000 },
    );
  });
});
