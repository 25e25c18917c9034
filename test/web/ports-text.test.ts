import { expect, test } from 'vitest';
import { portsOf, portsText } from '../../web/src/pages/policies/ports-text.ts';

test('ports are written as in every sentence of Mesh, and mean the same when they are read', () => {
  const ports = [
    { protocol: 'TCP' as const, port: 5432 },
    { protocol: 'UDP' as const, port: 6000, endPort: 6100 },
    { protocol: 'ICMP' as const },
    { port: 443 },
  ];
  expect(portsText(ports)).toBe('TCP 5432, UDP 6000-6100, ICMP, 443');
  for (const text of [
    portsText(ports),
    'tcp/5432, UDP/6000-6100 icmp,443',
    '5432/tcp 6000-6100/udp icmp 443',
    'tcp 5432 udp  6000-6100, ICMP 443',
  ]) {
    expect([text, portsOf(text)]).toEqual([text, ports]);
  }
  expect(portsOf(' ')).toEqual([]);
});

test('what is no port is named', () => {
  for (const wrong of ['http', 'tcp/', 'tcp5432', '1-', 'tcp/123456', 'tcp/udp']) {
    expect(portsOf(`80 ${wrong}`)).toBe(wrong);
  }
});
