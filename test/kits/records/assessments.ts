import type { IdPrefix } from '../../../core/base/ids.ts';
import { catalogOf } from '../../../core/compliance/catalog.ts';
import type { ControlResult, FailingInterval, FlipCause } from '../../../core/compliance/control-result.ts';
import type { Framework } from '../../../core/compliance/frameworks.ts';
import type { About, Assessment } from '../../../core/evidence/reports/about.ts';

/** An assessment of a quarter with a result of every kind, and what its archive says of itself, without a store. */

const START = '2026-01-01T00:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';
const MADE = '2026-04-01T08:00:00.000Z';

/** What others could have written: an actor, a reason, a policy's name, facts. */
export interface Words {
  readonly name?: string;
}

/** Names that would be markup, another cell, another line, a link or invisible, were they written as they stand. */
export const HOSTILE_NAMES: readonly string[] = [
  '\u202Egpj.exe\u202C',
  '<script>alert(1)</script>',
  'a|b\\|c`d``e',
  '[here](javascript:alert(1)) ![x](https://x.example/p.png)',
  '"onmouseover="alert(1)',
  "x'><img src=x onerror=alert(1)>",
  'one\n\n# two\r\n- three\n| four |',
  '**bold** __bold__ ~~gone~~ #1 &lt;b&gt; &amp;',
  'https://x.example www.x.example <https://x.example>',
  '```\n~~~',
  '<!-- gone -->',
  '1. one',
  '---',
  '\\',
  '`',
  'zero\u200Bwidth\u2066isolate\uFEFF\u00AD\u{E0041}',
  '\u0000\u0007\u001B[31mred',
  'a'.repeat(63),
];

export function aboutArchive({ name = 'production' }: Words = {}): About {
  return {
    installation: 'https://mesh.example.org',
    workspace: { id: idOf('w'), name },
    exportedAt: Date.parse('2026-04-02T09:30:00.000Z'),
    version: '0.1.0',
    keyFingerprint: 'SHA256:6xVnQbV2t2rSgq2uJ9Xb3bq0eN1x8m5w0bq8s2Qk4uE',
    raw: [
      {
        path: 'raw-data/policies-current.yaml',
        title: 'Policies as they are now',
        mediaType: 'application/yaml',
        holds: ['policies'],
        sha256: '0'.repeat(64),
      },
      {
        path: 'raw-data/snapshots-timeline.json',
        title: 'Snapshots of the period',
        mediaType: 'application/json',
        holds: ['snapshots', 'revisions'],
      },
      {
        path: 'raw-data/workflow-audit-log.csv',
        title: 'Workflows of the period, and who reviewed them',
        mediaType: 'text/csv',
        holds: ['workflows'],
      },
    ],
  };
}

export function anAssessment(framework: Framework = 'pci-dss', { name = 'web-to-db' }: Words = {}): Assessment {
  const catalogue = catalogOf(framework);
  const controls = catalogue.controls.map((control, index): ControlResult => {
    const { isOfContract: _, ...shown } = control;
    const base = { ...shown, changes: [], effect: null, failing: [], omitted_failing: 0 };
    if (index % 5 === 1) return { ...base, ...failingResult(name, index) };
    if (index % 5 === 4) {
      const evidence = 'As it is at 2026-04-01T08:00:00.000Z, of which no history is kept: No record of it is kept.';
      const remediation = 'An auditor asks who reviews it, and sees their notes.';
      return {
        ...base,
        status: 'insufficient_evidence',
        evidence,
        remediation,
        passing_share: null,
        passing_of: 'now',
      };
    }
    const evidence = `Held 100 % of the time that is known. At the end of the period: ${name} is isolated.`;
    return { ...base, status: 'pass', evidence, remediation: '', passing_share: 1, passing_of: 'time' };
  });
  const failed = controls.filter(({ status }) => status === 'fail').length;
  const passed = controls.filter(({ status }) => status === 'pass').length;
  return {
    framework: framework.toUpperCase(),
    canonical_framework: framework,
    generated_at: MADE,
    generated_by: `user:${name}`,
    period_start: START,
    period_end: END,
    score: Math.round((100 * passed) / (passed + failed)),
    status: 'partial',
    summary: `${catalogue.title} from ${START} to ${END}: ${passed} pass, ${failed} fail.`,
    evidence_id: idOf('ev'),
    controls,
    scope: 'compliance.scope=cde or pci or data=cardholder',
    gaps: [
      'The workspace exists since 2026-01-05T10:00:00.000Z: before it there was nothing.',
      `${name} is not known.`,
    ],
    states_evaluated: 41,
  };
}

function failingResult(name: string, index: number) {
  const day = (at: number) => new Date(Date.parse(START) + at * 86_400_000).toISOString();
  const cause = (at: number, fields: Partial<FlipCause> = {}): FlipCause => ({
    at: day(at),
    revision: 100 + at,
    actor: `user:${name}`,
    reason: `opened for ${name}`,
    workflow_id: idOf('wf'),
    reviewed_by: null,
    direct: false,
    resources: [`updated MeshPolicy/${name}`],
    ...fields,
  });
  const failing: FailingInterval[] = [
    {
      from: day(index),
      to: day(index),
      facts: `${name} was open.`,
      begun_by: cause(index, { direct: true, workflow_id: null }),
      ended_by: null,
    },
    {
      from: day(index + 3),
      to: day(index + 20),
      facts: `${name} reached db-1.`,
      begun_by: cause(index + 3),
      ended_by: cause(index + 20, { reviewed_by: 'user:grace' }),
    },
    { from: day(60), to: END, facts: `${name} reaches db-1.`, begun_by: cause(60), ended_by: null },
  ];
  return {
    status: 'fail',
    evidence: `Held 60 % of the time that is known. Failed 3 times: ${name} reached db-1.`,
    remediation: `A network operator isolates the peers in scope; a second person approves it: ${name}.`,
    passing_share: 0.6,
    passing_of: 'time',
    failing,
    omitted_failing: index > 20 ? 1 : 0,
    changes: [
      {
        action: 'create',
        resource: 'MeshPolicy',
        name: 'isolate-cde',
        spec: { peerSelector: { matchLabels: { pci: name } }, policyTypes: ['Ingress'], action: 'ALLOW', ingress: [] },
      } as unknown as ControlResult['changes'][number],
    ],
    effect: {
      summary: `Opens nothing; closes everything from ${name}.`,
      opened_pairs: 0,
      closed_pairs: 4,
      holds_after: true,
    },
  } as const;
}

/** An id that is the same in each test. */
function idOf(prefix: IdPrefix): string {
  return `${prefix}_abcdefghijklmnopqrstuvwxyz`;
}
