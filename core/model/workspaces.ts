import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { listOf } from '../base/list.ts';
import type { NoStatus, StoredRecord } from '../base/record.ts';
import { schemaNames } from '../base/schema-names.ts';
import { WORKSPACE_ROLES } from '../base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { isTimeZone } from '../base/time-zone.ts';
import { parseCidr } from './cidr.ts';
import { CADENCES, FRAMEWORKS, MAX_PERIOD_DAYS } from './frameworks.ts';
import { labelKeySchema, labelValueSchema } from './labels.ts';
import type { BaseServices } from './services.ts';

/** Peers for which 10.96.0.0/12 has room. */
export const MAX_NODE_COUNT = 1_000_000;

/** How risky a plan may be to pass without a person, from least to most. */
export const RISKS = ['low', 'medium', 'high', 'critical'] as const;

/** Kinds of requesters. An agent is any program, also one that holds the token of a person. */
export const REQUESTERS = ['person', 'agent'] as const;
export type RequesterKind = (typeof REQUESTERS)[number];

const timeZone = lineOfText(TEXT_LIMITS.id).refine(isTimeZone, {
  error: 'must be an IANA time zone such as Europe/Zurich',
});

/** Labels of a scope, and addresses outside, that a workspace names for its assessments. */
const MAX_SCOPE_LABELS = 16;
const MAX_SOURCES = 64;

const scopeLabels = listOf(
  lineOfText(TEXT_LIMITS.term).refine(isLabelTerm, { error: 'write a label as key=value' }),
  MAX_SCOPE_LABELS,
)
  .min(1)
  .optional();
const source = lineOfText(TEXT_LIMITS.cidr).refine((text) => parseCidr(text) !== undefined, {
  error: 'must be a block of addresses such as 203.0.113.0/24',
});

/** A day has an hour more where clocks go back. */
const MAX_SCHEDULED_DAYS = MAX_PERIOD_DAYS - 1;

export const scheduleSettings = z
  .strictObject({
    cadence: z.enum(CADENCES).describe('daily, or at the first day of each week, month or quarter, at 03:00'),
    days: z
      .int()
      .min(1)
      .max(MAX_SCHEDULED_DAYS)
      .optional()
      .describe('days before it that are assessed; unset: those since the time before'),
    enabled: z.boolean(),
  })
  .meta({ id: 'AssessmentScheduleSettings' });

export type AssessmentSchedule = z.output<typeof scheduleSettings>;

/** At most one schedule per framework. */
const schedules = z.strictObject({
  'pci-dss': scheduleSettings.optional(),
  soc2: scheduleSettings.optional(),
  hipaa: scheduleSettings.optional(),
} satisfies Record<(typeof FRAMEWORKS)[number], unknown>);

/** A year and a day: whoever reviews less often than once a year has no cadence. */
const MAX_CADENCE_DAYS = 366;
const cadence = z.int().min(1).max(MAX_CADENCE_DAYS).optional();

const reviewSettings = z.strictObject({
  access: cadence.describe('days between reviews of access (184)'),
  policies: cadence.describe('days between reviews of the policies (184)'),
  activity: cadence.describe('days between reviews of the audit log (92)'),
});

export const complianceSettings = z.strictObject({
  cde: scopeLabels.describe('labels of peers with cardholder data, as key=value'),
  ephi: scopeLabels.describe('labels of peers with health data, as key=value'),
  sources: listOf(source, MAX_SOURCES).optional().describe('addresses outside that may reach them'),
  frameworks: listOf(z.enum(FRAMEWORKS), FRAMEWORKS.length)
    .optional()
    .describe('changes are judged by these; unset: by those whose data some peer is labelled with'),
  secondPerson: z
    .boolean()
    .optional()
    .describe('a change after which a control fails needs a second person, whatever selfApproval says'),
  schedules: schedules.optional().describe('when assessments are made by themselves'),
});

export type ComplianceSettings = z.output<typeof complianceSettings>;

/** Default successor: takes over what a person leaves, where nobody else is named. */
const successorSettings = z.union([
  z
    .strictObject({ username: lineOfText(TEXT_LIMITS.name).min(1).describe('a member of the workspace') })
    .register(schemaNames, { name: 'SuccessorByName' }),
  z
    .strictObject({ role: z.enum(WORKSPACE_ROLES).describe('whoever has been a member with this role for longest') })
    .register(schemaNames, { name: 'SuccessorByRole' }),
]);

/** The settings of a workspace. Those of approval decide what happens without a person. */
export const settingsSchema = z.strictObject({
  requirePeerApproval: z.boolean().describe('a new device stays pending until an operator approves it'),
  requireApproval: z.boolean().describe('direct writes pass the approval workflow too'),
  selfApproval: z
    .boolean()
    .optional()
    .describe('a person may approve their own request; unset: only while there is a single approver'),
  approvalCode: z
    .boolean()
    .optional()
    .describe('who approves shows a code of their second factor; unset: their session is enough'),
  autoApprove: z
    .strictObject({
      maxRisk: z.enum(RISKS),
      from: listOf(z.enum(REQUESTERS), REQUESTERS.length)
        .min(1)
        .optional()
        .describe(
          'whose plans, also those of orders without a sentence; unset: plans that match a sentence that was read',
        ),
    })
    .optional()
    .describe('plans up to this risk are executed without a person'),
  successor: successorSettings
    .optional()
    .describe('who takes over the agents and join tokens of a person who leaves; unset: they end'),
  timeZone: timeZone.describe('of the daily snapshot at 02:00, and of clock times and days in what is asked'),
  compliance: complianceSettings.optional().describe('whom assessments are about'),
  reviews: reviewSettings
    .optional()
    .describe('how often access, policies and activity are reviewed; set: reminders come'),
});

export type WorkspaceSettings = z.output<typeof settingsSchema>;

export const DEFAULT_SETTINGS: WorkspaceSettings = {
  requirePeerApproval: false,
  requireApproval: false,
  timeZone: 'UTC',
};

/** Schedules of a workspace: an assessment by each framework, and the reviews. */
export const SCHEDULE_NAMES = [...FRAMEWORKS, 'reviews'] as const;
export type ScheduleName = (typeof SCHEDULE_NAMES)[number];

/** The person who answers for something that was made in a workspace. */
export interface Owner {
  /** Uid of the account. */
  readonly id: string;
  readonly name: string;
}

/** Returns a schedule as the settings have it. */
export function scheduleIn({ compliance, reviews }: WorkspaceSettings, name: ScheduleName): object | undefined {
  return name === 'reviews' ? reviews : compliance?.schedules?.[name];
}

export interface WorkspaceSpec {
  readonly slug: string;
  readonly namespace: string;
  readonly displayName: string;
  readonly maxNodeCount: number;
  readonly settings: WorkspaceSettings;
  /** Maker of each schedule; null for one whose person has left, absent for one that an older version made. */
  readonly scheduleOwners?: { readonly [K in ScheduleName]?: Owner | null };
  /** When `meshd end-approval` ended the need for a second person, ms; absent where it never did. */
  readonly approvalEndedAt?: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Workspace: { spec: WorkspaceSpec; status: NoStatus };
  }
}

/** Its uid is the workspace id; its record is in the system partition, named by the slug. */
export type WorkspaceRecord = StoredRecord<'Workspace'>;

/** The record of a workspace with its settings. @throws MeshError `not_found` */
export async function workspaceById({ store }: Pick<BaseServices, 'store'>, id: string): Promise<WorkspaceRecord> {
  const record = await store.getById(SYSTEM_WORKSPACE, 'Workspace', id);
  if (!record) throw new MeshError('not_found', `There is no workspace ${id}.`);
  return record;
}

/** The time zone by whose clocks days in a workspace are meant; the installation has UTC. */
export async function timeZoneOf(services: Pick<BaseServices, 'store'>, id: string): Promise<string> {
  if (id === SYSTEM_WORKSPACE) return DEFAULT_SETTINGS.timeZone;
  return (await workspaceById(services, id)).spec.settings.timeZone;
}

/** The slug of a workspace, which never changes; undefined once the workspace is gone. */
export async function slugOf({ store }: Pick<BaseServices, 'store'>, id: string): Promise<string | undefined> {
  return (await store.getById(SYSTEM_WORKSPACE, 'Workspace', id))?.spec.slug;
}

function isLabelTerm(text: string): boolean {
  const end = text.indexOf('=');
  if (end < 0) return false;
  return (
    labelKeySchema.safeParse(text.slice(0, end)).success && labelValueSchema.safeParse(text.slice(end + 1)).success
  );
}
