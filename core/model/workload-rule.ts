import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { deviceLabelsSchema } from './device-labels.ts';
import { labelsSchema } from './labels.ts';
import { egressRuleSchema } from './policy.ts';
import type { PolicyPreset } from './resources.ts';
import { ruleList } from './rule-list.ts';
import { workloadIdentitySchema } from './workload-identity.ts';

/** Devices that one join token may add. */
export const MAX_JOIN_USES = 10_000;

/** Presets of workloads: they delegate nothing, so that none coordinates. */
const WORKLOAD_PRESETS = ['isolated', 'sandboxed', 'inherit'] as const satisfies readonly PolicyPreset[];

/** Rules of `egress` of one rule for workloads. */
const MAX_RULES = 100;

/** Fields of a join token for workloads alone. */
export const workloadFields = {
  identity: workloadIdentitySchema,
  admits: z.boolean().describe('its devices need no approval; for workloads, from who may approve devices'),
  preset: z
    .enum(WORKLOAD_PRESETS, { error: `preset is ${WORKLOAD_PRESETS.join(', ')}: workloads delegate nothing` })
    .describe('preset that holds its workloads, as one holds agents'),
  egress: ruleList(egressRuleSchema, MAX_RULES).describe('what workloads with the preset sandboxed may reach'),
};

/** Fields of a join token that say what its devices get. */
export const deviceFields = {
  labels: labelsSchema.default({}).describe('labels of the devices that join with it'),
  network: lineOfText(TEXT_LIMITS.name).min(1).optional().describe('network that they join; unset: default'),
  deviceLabels: deviceLabelsSchema
    .optional()
    .describe('labels that a device may ask for when it joins, as key=value, or key for any value'),
  deviceTtl: lineOfText(TEXT_LIMITS.duration).min(1).optional().describe('how long its devices last, such as 2h'),
};
