import { expect, it } from 'vitest';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { parseCidr } from '../model/cidr.ts';
import { freeAddresses, stretchesOf } from './free-addresses.ts';

it.each([
  ['10.96.0.0/32', ['10.96.0.2']],
  ['10.96.0.0/24', ['10.96.0.2']],
  ['10.96.0.255/32', ['10.96.0.2']],
  ['10.96.0.4/30', ['10.96.0.2', '10.96.0.4', '10.96.0.8']],
])('an address that no device gets is in no stretch of a network that %s cuts', (cidr, found) => {
  const net = network('default');
  const block = parseCidr(cidr);
  if (!block) throw new Error('no block');
  const state = stateWith(net, peer('web-1', { address: '10.96.0.1' }));
  expect(freeAddresses(net, stretchesOf(net, [block]), [state])).toEqual(found);
});
