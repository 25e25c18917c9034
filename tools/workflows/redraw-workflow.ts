import { z } from 'zod';
import { MAX_ASSERTIONS } from '../../core/assertions/manage.ts';
import { MeshError } from '../../core/base/errors.ts';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { CONTROL_STATES } from '../../core/compliance/control-result.ts';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';
import {
  type EffectKinds,
  MAX_KIND_NAMES,
  MAX_KINDS,
  type RefreshedPreview,
} from '../../core/intent/plan/refreshed-preview.ts';
import { findWorkflow, type WorkflowRecord } from '../../core/model/workflow-records.ts';
import { MAX_NAMED, othersWhoApprove } from '../../core/workflow/approvers.ts';
import { reassess, whyNotApproved, withAssessment } from '../../core/workflow/reassess.ts';
import { isRefusal } from '../../core/workflow/refusal.ts';
import { standingOf } from '../../core/workflow/review.ts';
import { defineOperation } from '../define.ts';
import { changeSchema, check, effectSchema, expectationsHold, questionsOf, riskLevel } from '../intents/plan-view.ts';

const kinds = z.strictObject({
  rows: z
    .array(
      z
        .strictObject({
          from: z.string(),
          to: z.string(),
          ports: z.string(),
          pairs: z.int(),
          src: z
            .array(z.string())
            .max(MAX_KIND_NAMES)
            .readonly()
            .describe('Each to each dst other than itself; the first of src_total'),
          dst: z.array(z.string()).max(MAX_KIND_NAMES).readonly(),
          src_total: z.int(),
          dst_total: z.int(),
        })
        .meta({ id: 'EffectKind' }),
    )
    .max(MAX_KINDS),
  omitted_rows: z.int(),
  omitted_pairs: z.int(),
});

/** More kinds than any effect has. */
const MAX_SKIP = 10_000_000;

const control = { framework: z.enum(FRAMEWORKS), control: z.string(), title: z.string() };

const drawing = z.strictObject({
  digest: z.string().describe('Of what is shown here; sent with approve_workflow, it is what is approved'),
  differs: z.boolean().describe('Whether it would do something else now than when it was put forward'),
  refusal: z.string().nullable().describe('Why it cannot be approved as it would be now'),
  summary: z.string(),
  effect: effectSchema,
  opens: kinds.describe(
    'The same by kinds of peers: what comes in from outside, then the largest; skip leads to those left out',
  ),
  closes: kinds,
  risk_level: riskLevel,
  risk_reasons: z.array(z.string()),
  warnings: z.array(z.string()),
  check,
  expectations_hold: expectationsHold,
  objections: z.array(z.string()),
  questions: z.array(z.string()).describe('Asked with the plan: who approves it answers'),
  changes: z.array(changeSchema),
  assertions: z
    .array(
      z.strictObject({
        name: z.string(),
        text: z.string(),
        held: z.boolean().describe('Before the change'),
        holds: z.boolean().describe('After it'),
        detail: z.string().nullable().describe('Why it does not hold'),
        touched: z.boolean().describe('Whether the change opens or closes something that it is about'),
      }),
    )
    .max(MAX_ASSERTIONS)
    .describe('Every assertion of the workspace'),
  controls: z
    .array(
      z.strictObject({ ...control, from: z.enum(CONTROL_STATES), to: z.enum(CONTROL_STATES), evidence: z.string() }),
    )
    .describe('What it does to controls of frameworks, now and later'),
  controls_standing: z.array(z.strictObject(control)).describe('Controls that pass before it and after it'),
});

export const redrawWorkflow = defineOperation({
  name: 'redraw_workflow',
  title: 'Draw a change that waits again',
  description:
    'Says what a pending workflow would do to the network as it is now, with the assertions and controls that it touches, and whether you may approve it. Writes nothing.',
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.id).min(1).describe('workflow_id'),
    skip: z.coerce
      .number()
      .int()
      .min(0)
      .max(MAX_SKIP)
      .default(0)
      .describe('Kinds of opens and of closes that were told before: those after them are told'),
  }),
  output: z.strictObject({
    base_revision: z.int().describe('Of the network when it was put forward'),
    revision: z.int().describe('Of the network now'),
    drawing: drawing.nullable().describe('Null where it cannot be drawn, and of a call that waits'),
    problem: z.string().nullable().describe('Why its changes cannot be made any more'),
    decision: z.strictObject({
      may_approve: z.boolean(),
      why: z.string().nullable().describe('Why you may not'),
      own: z.boolean().describe('Whether you are the person who asked for it'),
      code_required: z.boolean().describe('Whether approving takes a code of your second factor'),
      others: z.array(z.string()).max(MAX_NAMED).describe('Others who may approve it, as far as you may list them'),
    }),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['not_found', 'conflict'],
  http: { method: 'get', path: '/api/v1/workflows/:id/redraw' },
  async run({ id, skip }, context) {
    const { services, workspace } = context;
    const workflow = await findWorkflow(services, workspace, id);
    if (workflow.status.state !== 'pending') {
      throw new MeshError(
        'conflict',
        `The workflow is ${workflow.status.state}, not pending: nothing of it is left to draw.`,
      );
    }
    const { drawn, problem } = workflow.spec.call
      ? {}
      : await previewOrProblem(() => reassess(context, workflow, skip));
    const asDrawn = drawn ? withAssessment(workflow, drawn) : workflow;
    const standing = await standingOf(context, asDrawn);
    return {
      base_revision: workflow.spec.baseRevision,
      revision: drawn?.readSet.revision ?? (await services.states.current(workspace)).revision,
      drawing: drawn ? drawingView(workflow, drawn) : null,
      problem: problem ?? null,
      decision: {
        may_approve: standing.mayApprove,
        why: standing.why ?? null,
        own: standing.isOwn,
        code_required: standing.needsCode,
        others: await othersWhoApprove(context, asDrawn.spec),
      },
    };
  },
});

async function previewOrProblem(
  draw: () => Promise<RefreshedPreview>,
): Promise<{ drawn?: RefreshedPreview; problem?: string }> {
  try {
    return { drawn: await draw() };
  } catch (error) {
    if (error instanceof MeshError && isRefusal(error)) return { problem: error.message };
    throw error;
  }
}

function drawingView(workflow: WorkflowRecord, drawn: RefreshedPreview): z.input<typeof drawing> {
  const { digest, title, effect, kinds: by, risk, warnings, objections, shown } = drawn;
  return {
    digest,
    differs: digest !== workflow.spec.digest,
    refusal: whyNotApproved(workflow, drawn)?.message ?? null,
    summary: title,
    effect,
    opens: kindsView(by.opened),
    closes: kindsView(by.closed),
    risk_level: risk.level,
    risk_reasons: [...risk.reasons],
    // Warnings that are already asked as questions are left out.
    warnings: warnings.filter((text) => !drawn.beyondNamed.includes(text)),
    check: drawn.check,
    expectations_hold: drawn.expectationsHold ?? null,
    objections: [...objections],
    questions: questionsOf(drawn.beyondNamed, workflow.spec.questions),
    changes: [...shown],
    assertions: drawn.assertions.map(({ isTouched, detail = null, ...assertion }) => ({
      ...assertion,
      detail,
      touched: isTouched,
    })),
    controls: [...drawn.controls],
    controls_standing: [...drawn.standing],
  };
}

function kindsView({ rows, omittedRows, omittedPairs }: EffectKinds): z.input<typeof kinds> {
  return {
    rows: rows.map(({ srcTotal, dstTotal, ...row }) => ({ ...row, src_total: srcTotal, dst_total: dstTotal })),
    omitted_rows: omittedRows,
    omitted_pairs: omittedPairs,
  };
}
