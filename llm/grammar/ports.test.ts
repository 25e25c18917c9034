import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recognise } from './lexicon.ts';
import { otherPorts, portList, portText } from './port-entries.ts';
import { portsAt } from './ports.ts';
import { tokenise } from './tokens.ts';

const read = (text: string) => {
  const tokens = recognise(tokenise(text));
  const named = portsAt(tokens, 0);
  return named && [portText(named.ports) || 'all', tokens.length - named.end];
};

describe('ports in a sentence', () => {
  it.each([
    ['443', 'TCP 443'],
    ['port 443', 'TCP 443'],
    ['the ports 80, 443 and 8000-8100', 'TCP 80 and TCP 443 and TCP 8000-8100'],
    ['ports 8000 to 8100', 'TCP 8000-8100'],
    ['8000 - 8100', 'TCP 8000-8100'],
    ['53/udp', 'UDP 53'],
    ['udp/53', 'UDP 53'],
    ['udp port 53', 'UDP 53'],
    ['udp 53 and tcp 443', 'UDP 53 and TCP 443'],
    ['80 and 53/udp', 'TCP 80 and UDP 53'],
    ['ports 53 and 123 udp', 'UDP 53 and UDP 123'],
    ['port 53 over udp', 'UDP 53'],
    ['port 53, tcp and udp', 'TCP 53 and UDP 53'],
    ['tcp and udp 53', 'TCP 53 and UDP 53'],
    ['https and ssh', 'TCP 443 and TCP 22'],
    ['the postgres port', 'TCP 5432'],
    ['dns', 'UDP 53 and TCP 53'],
    ['kubernetes api', 'TCP 6443'],
    ['node-exporter', 'TCP 9100'],
    ['icmp', 'ICMP'],
    ['udp', 'UDP'],
    ['all tcp ports', 'TCP'],
    ['any port', 'all'],
  ])('"%s" are %s', (text, ports) => {
    expect(read(text)).toEqual([ports, 0]);
  });

  it.each(['web', 'db-1', 'constructor', '__proto__', '"443"', '1.2.3.4'])('"%s" are none', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('end before what is no port', () => {
    expect(read('443 and api')).toEqual(['TCP 443', 2]);
    expect(read('tcp 443 of db')).toEqual(['TCP 443', 2]);
  });

  it.each(['0', '70000', '90-80', 'port gopher', 'ports'])('"%s" are refused', (text) => {
    expect(() => read(text)).toThrow(/no port/);
  });

  it('have a complement over every protocol', () => {
    expect(otherPorts([{ protocol: 'TCP', port: 22, endPort: 25 }, { protocol: 'UDP' }])).toEqual([
      { protocol: 'TCP', port: 1, endPort: 21 },
      { protocol: 'TCP', port: 26, endPort: 65_535 },
      { protocol: 'SCTP' },
      { protocol: 'ICMP' },
    ]);
  });
});

const entry = fc.oneof(
  fc.record({ protocol: fc.constantFrom('TCP' as const, 'UDP' as const), port: fc.integer({ min: 1, max: 65_535 }) }),
  fc
    .tuple(fc.constantFrom('TCP' as const, 'UDP' as const), fc.integer({ min: 1, max: 65_534 }), fc.nat(500))
    .map(([protocol, port, more]) => ({ protocol, port, endPort: Math.min(port + 1 + more, 65_535) })),
  fc.constantFrom('TCP' as const, 'UDP' as const, 'ICMP' as const).map((protocol) => ({ protocol })),
);

it('ports as they can be said again are read as the same ports', () => {
  fc.assert(
    fc.property(fc.uniqueArray(entry, { minLength: 1, maxLength: 5, selector: (one) => portList([one]) }), (ports) => {
      const tokens = recognise(tokenise(portList(ports)));
      expect(portsAt(tokens, 0)).toMatchObject({ ports, end: tokens.length });
    }),
  );
});
