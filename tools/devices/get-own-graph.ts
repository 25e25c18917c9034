import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { ownGraph } from '../../core/enrolment/own-device.ts';
import { defineOperation } from '../define.ts';

const firewallEntry = z.strictObject({
  cidr: z.string(),
  protocol: z.enum(['ALL', 'TCP', 'UDP', 'SCTP', 'ICMP']),
  from: z.int().optional(),
  to: z.int().optional(),
  expiresAt: z.string().optional(),
});

export const getOwnGraph = defineOperation({
  name: 'get_own_graph',
  title: 'Get the network graph of this device',
  description:
    'The peers this device has to do with, the firewall rules it enforces, and its relay. Never an empty map.',
  input: z.strictObject({}),
  output: z.strictObject({
    kind: z.literal('full'),
    epoch: z.string(),
    version: z.int().describe('Revision of the workspace'),
    reason: z.string(),
    self: z.strictObject({
      id: z.string(),
      name: z.string(),
      address: z.string(),
      cidr: z.string().describe('Block of its network'),
      phase: z.literal('ready'),
      expiresAt: z.string().optional(),
    }),
    peers: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        publicKey: z.string(),
        address: z.string(),
        allowedIps: z.array(z.string()),
        expiresAt: z.string().optional(),
      }),
    ),
    firewall: z.strictObject({
      digest: z.string().describe('SHA-256 of the rules, hex'),
      full: z.strictObject({ in: z.array(firewallEntry), out: z.array(firewallEntry) }),
    }),
    relay: z
      .strictObject({
        url: z.string(),
        credential: z.string(),
        address: z.string().optional().describe('Both in one: lrp://<credential>@host:port'),
        expiresAt: z.string(),
      })
      .nullable(),
    stun: z.array(z.string()),
    checkpoint: z.string().nullable(),
  }),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['peer_pending', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/devices/self/graph' },
  async run(_input, context) {
    const { peers, firewall, stun, ...graph } = await ownGraph(context);
    const { digest, full } = firewall;
    return {
      ...graph,
      peers: peers.map(({ allowedIps, ...peer }) => ({ ...peer, allowedIps: [...allowedIps] })),
      firewall: { digest, full: { in: [...full.in], out: [...full.out] } },
      stun: [...stun],
    };
  },
});
