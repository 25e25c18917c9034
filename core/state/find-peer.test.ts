import { expect, test } from 'vitest';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { peerNotFound } from './find-peer.ts';

const STATE = stateWith(network('default'), peer('web-1', { address: '10.96.0.1' }));

test.each(['outside', 'Internet', '8.8.8.8', '203.0.113.0/24', '2001:db8::1'])(
  'who asks for the peer %s is told how addresses outside are asked about',
  (given) => {
    expect(peerNotFound(STATE, given)).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('ask check_connectivity: one end may be outside'),
    });
  },
);
