import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { pastInstant as instant } from '../core/base/moment-text.ts';
import { type AnyOperation, type CallContext, CREATE, operationsFor } from '../core/base/operation.ts';
import { originOf } from '../core/base/origin.ts';
import type { Log } from '../core/base/ports.ts';
import { createQuotas, type Quotas, quotaKeysOf } from '../core/base/quotas.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import type { Scope } from '../core/base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../core/base/text.ts';
import { mayAccess } from '../core/call/access.ts';
import { type CallRequest, type Gate, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { JsonText } from '../core/compute/compute.ts';
import { requireWholeLog } from '../core/identity/audit-reach.ts';
import type { Services } from '../core/workflow/services.ts';
import { readFields } from './body.ts';
import { credentialOf } from './credential.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits, sendArchive } from './send-archive.ts';

export interface EvidenceOptions {
  readonly operations: readonly AnyOperation<Services>[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly headers: readonly string[];
  readonly limits?: ArchiveLimits;
}

export const EVIDENCE_PATH = '/api/v1/ai/compliance/evidence';
/** Made at once in this process. One person alone has two of them (core/base/quotas.ts). */
export const MAX_EXPORTS = 16;
/** The scopes for the contents of an archive: the network, its snapshots and workflows, and the entries of the audit log. */
const ALSO_NEEDED: readonly Scope[] = ['network:read', 'snapshots:read', 'audit:read'];

/** A stored assessment, or what to assess now. */
export const evidenceInput = z.strictObject({
  evidence_id: lineOfText(TEXT_LIMITS.reference)
    .min(1)
    .optional()
    .describe('A stored assessment; or else what follows'),
  framework: lineOfText(TEXT_LIMITS.name).min(1).optional(),
  period_start: instant.optional(),
  period_end: instant.optional().describe('None: now'),
});

type EvidenceQuery = z.output<typeof evidenceInput>;

interface OpenExport {
  readonly asked: EvidenceQuery;
  readonly context: CallContext<Services>;
  readonly release: () => void;
}

/** Goes through the one path, so that it refuses exactly as an operation does. */
function openOperation(exports: Quotas) {
  return operationsFor<Services>()({
    name: 'export_evidence',
    title: 'Compliance evidence',
    description: 'The evidence of an assessment as a ZIP archive that verifies without Mesh: docs/evidence.md.',
    input: evidenceInput,
    output: z.custom<OpenExport>(),
    access: 'compliance:assess',
    workspace: 'scoped',
    edition: 'pro',
    effects: CREATE,
    whenFull: 'works',
    problems: ['invalid_input', 'forbidden', 'beyond_delegation', 'not_found', 'rate_limited', 'unavailable'],
    http: { method: 'post', path: EVIDENCE_PATH },
    async run(asked, context): Promise<OpenExport> {
      const { caller, workspace } = context;
      if (!caller) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
      const missing = ALSO_NEEDED.find((scope) => !mayAccess(scope, caller, workspace));
      if (missing) {
        const detail = `This needs the scope ${missing} besides compliance:assess: the archive holds what it reads.`;
        throw new MeshError('forbidden', detail, { scope: missing });
      }
      await requireWholeLog(context);
      requireOneForm(asked);
      return { asked, context, release: exports.take(quotaKeysOf(caller, [workspace])) };
    },
  });
}

/** The operation of this route alone; for tests that walk all operations. */
export const exportEvidence: AnyOperation<Services> = openOperation(createQuotas('evidence exports', MAX_EXPORTS));

/** POST /api/v1/ai/compliance/evidence. */
export function buildEvidence({
  operations,
  gate,
  log,
  metrics,
  headers,
  limits = ARCHIVE_LIMITS,
}: EvidenceOptions): RequestHandler | undefined {
  const assess = operations.find(({ name }) => name === 'assess_compliance');
  if (!assess) return undefined;
  const exports = createQuotas('evidence exports', MAX_EXPORTS);
  const open = openOperation(exports);
  metrics.gauge('mesh_evidence_exports', 'Evidence archives that are made now', () => exports.held);

  return async (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const [readAt, abort] = [performance.now(), new AbortController()];
    response.once('close', () => abort.abort());
    let release = () => {};
    try {
      const { fields = {} } = gate.edition === 'pro' ? await readFields(request, { method: 'post' }) : {};
      const call = { ...callOf(request, fields, requestId, abort.signal), readAt };
      const opened = (await invoke(open, call, gate)) as OpenExport;
      release = opened.release;
      const { asked, context } = opened;
      const { openArchive } = await import('../core/evidence/archive.ts');
      const archive = await openArchive(context, asked.evidence_id ?? (await assessed(assess, call, gate)));
      response.writeHead(200, [
        ...headers,
        ...['Content-Type', 'application/zip'],
        ...['Content-Disposition', `attachment; filename="${archive.fileName}"`],
        ...['Cache-Control', 'no-store'],
        ...['X-Request-Id', requestId],
      ]);
      await sendArchive(response, archive, abort.signal, limits);
    } catch (thrown) {
      if (response.headersSent) {
        log.warn({ err: thrown, requestId, operation: open.name }, 'an archive was cut off');
        response.destroy();
        return;
      }
      const error = fromHttpError(thrown);
      const problem = toProblem(error, { instance: EVIDENCE_PATH, requestId });
      logFailure(log, error, problem, { operation: open.name });
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } finally {
      release();
    }
  };
}

/** Assesses the period as POST /api/v1/ai/compliance/assess does. @returns its evidence_id */
async function assessed(assess: AnyOperation<Services>, call: CallRequest, gate: Gate<Services>): Promise<string> {
  const answer = await invoke(assess, call, gate);
  const value = answer instanceof JsonText ? answer.parse() : answer;
  return (value as { readonly evidence_id: string }).evidence_id;
}

/** @throws MeshError `invalid_input` */
function requireOneForm({ evidence_id: id, ...period }: EvidenceQuery): void {
  const given = Object.keys(period).filter((name) => period[name as keyof typeof period] !== undefined);
  const refuse = (pointer: string, detail: string): never => {
    throw new MeshError('invalid_input', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
  };
  if (id !== undefined && given.length > 0) refuse('/evidence_id', `Send it alone, without ${given.join(', ')}.`);
  if (id !== undefined) return;
  if (period.framework === undefined) refuse('/framework', 'Required, with period_start; or send evidence_id.');
  if (period.period_start === undefined) refuse('/period_start', 'Required with framework.');
}

function callOf(request: Request, raw: CallRequest['raw'], requestId: string, signal: AbortSignal): CallRequest {
  const header = request.headers['x-workspace-id'];
  return {
    raw,
    bearer: credentialOf(request),
    workspaceHints: [Array.isArray(header) ? header[0] : header],
    face: 'rest',
    origin: originOf(request),
    requestId,
    signal,
  };
}
