import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { updateWorkspace as update } from '../../core/identity/change-workspace.ts';
import { complianceSettings, MAX_NODE_COUNT, settingsSchema } from '../../core/model/workspaces.ts';
import { defineOperation } from '../define.ts';
import { workspaceSchema, workspaceView } from './workspace-view.ts';

const { selfApproval, autoApprove, reviews, successor } = settingsSchema.shape;
const { cde, ephi, sources, frameworks, secondPerson, schedules } = complianceSettings.shape;
const compliancePatch = z.strictObject({
  cde: cde.nullable(),
  ephi: ephi.nullable(),
  sources: sources.nullable(),
  frameworks: frameworks.nullable(),
  secondPerson: secondPerson.nullable(),
  schedules: schedules.nullable(),
});

export const updateWorkspace = defineOperation({
  name: 'update_workspace',
  title: 'Change a workspace',
  description:
    'Changes the fields and settings that are sent. Only a logged-in person may, for settings decide who approves.',
  input: z.strictObject({
    displayName: lineOfText(TEXT_LIMITS.title).trim().min(1).optional(),
    maxNodeCount: z.number().int().min(1).max(MAX_NODE_COUNT).optional().describe('platform administrators only'),
    settings: settingsSchema
      .partial()
      .extend({
        selfApproval: selfApproval.nullable().describe('null: only while there is a single approver'),
        autoApprove: autoApprove.nullable().describe('null: never'),
        compliance: compliancePatch
          .nullish()
          .describe('its fields that are not sent stay; null: as docs/compliance.md says without'),
        successor: successor.nullable().describe('null: what a person leaves ends'),
        reviews: reviews.nullable().describe('null: the cadences of docs/reviews.md'),
      })
      .optional(),
  }),
  output: workspaceSchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'patch', path: '/api/v1/workspaces/:workspaceId' },
  async run(input, context) {
    return workspaceView(await update(input, context));
  },
});
