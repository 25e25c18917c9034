import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { heartbeat } from '../../core/enrolment/own-device.ts';
import { pathReportsSchema } from '../../core/model/reported-paths.ts';
import { PEER_PHASES } from '../../core/model/resources.ts';
import { versionSchema } from '../../core/model/version.ts';
import { witnessedSchema } from '../../core/model/witnesses.ts';
import { defineOperation } from '../define.ts';

export const sendHeartbeat = defineOperation({
  name: 'send_heartbeat',
  title: 'Send a heartbeat',
  description:
    'Says that this device is there. It counts as online for 45 seconds, or 90 of a version before 3 of the wire. With `leaving` it is offline at once.',
  input: z.strictObject({
    paths: pathReportsSchema.optional().describe('Ways to other peers that changed'),
    version: versionSchema.optional(),
    leaving: z.literal(true).optional().describe('This one is the last: the device goes'),
    witnessed: witnessedSchema.optional().describe('Of the audit log, where it changed'),
  }),
  output: z.strictObject({
    phase: z.enum(PEER_PHASES),
    version: z.int().describe('Of the graph: a device with an older one asks for it'),
    at: z.string().describe('Time of the control plane'),
    checkpoint: z.string().nullable().describe('Of the audit log, signed; null most of the time'),
  }),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: { ...UPDATE, destructiveHint: false },
  whenFull: 'works',
  problems: ['not_found'],
  http: { method: 'post', path: '/api/v1/devices/self/heartbeat' },
  async run(said, context) {
    const { peer, version, at, checkpoint } = await heartbeat(context, said);
    return { phase: peer.status.phase, version, at: formatInstant(at), checkpoint };
  },
});
