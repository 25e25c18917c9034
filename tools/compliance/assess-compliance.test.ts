import { beforeAll, describe, expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import type { ControlResult } from '../../core/compliance/control-result.ts';
import { enforceRetention } from '../../core/history/retention.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const DAY_MS = 86_400_000;
const CDE = { matchLabels: { 'compliance.scope': 'cde' } };
const WEB = { peerSelector: { peers: ['web-1'] } };
const CARD = { peerSelector: { peers: ['card-1'] } };
const at = formatInstant;

function controlOf(assessment: { controls: readonly ControlResult[] }, id: string): ControlResult {
  const found = assessment.controls.find((one) => one.id === id);
  if (!found) throw new TypeError(`There is no control ${id}.`);
  return found;
}

/**
 * Six days: open, then closed by a base, then public for a day, then not, then an auto-approved plan, then a reviewed one.
 */
async function sixDays() {
  const kit = await buildHistoryKit();
  const began = kit.clock.time;
  const day = async (work: () => Promise<unknown>) => {
    kit.clock.time += DAY_MS;
    return work();
  };
  await kit.join('card-1', { 'compliance.scope': 'cde' });
  await kit.join('web-1', { role: 'web' });
  await day(() => kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } }));
  const open = { action: 'ALLOW', peerSelector: CDE, ingress: [{ from: ['*'] }] };
  const expiresAt = at(kit.clock.time + 2 * DAY_MS);
  await day(() => kit.ask('create_policy', { name: 'open', spec: { ...open, expiresAt } }));
  kit.clock.time += DAY_MS;
  const { admin } = kit;
  await day(() =>
    kit.call(
      'update_workspace',
      { settings: { autoApprove: { maxRisk: 'critical' }, compliance: { frameworks: [] } } },
      { as: admin },
    ),
  );
  const [allow, ports] = [{ action: 'ALLOW' }, [{ port: 443 }]];
  const plan = await kit.ask('plan_network_change', {
    intent: 'let web-1 reach card-1 on port 443',
    changes: [
      {
        action: 'create',
        resource: 'MeshPolicy',
        name: 'card-in',
        spec: { ...allow, ...CARD, ingress: [{ from: [WEB], ports }] },
      },
      {
        action: 'create',
        resource: 'MeshPolicy',
        name: 'web-out',
        spec: { ...allow, ...WEB, egress: [{ to: [CARD], ports }] },
      },
    ],
    expectations: [{ src: 'web-1', dst: 'card-1', port: 443, expect: 'allow' }],
  });
  const auto = await kit.call('apply_network_change', { plan_id: plan.plan_id }, { as: admin, face: 'mcp' });
  await day(() => kit.call('update_workspace', { settings: { autoApprove: null } }, { as: admin }));
  kit.clock.time += DAY_MS;
  const assess = (fields: Record<string, unknown> = {}) =>
    kit.ask('assess_compliance', {
      framework: 'pci-dss',
      period_start: at(began),
      period_end: at(kit.clock.time),
      ...fields,
    });
  return { kit, began, assess, auto: auto.workflow_id as string };
}

let scene: Awaited<ReturnType<typeof sixDays>>;
beforeAll(async () => {
  scene = await sixDays();
  return () => scene.kit[Symbol.asyncDispose]();
});

describe('over a period', () => {
  test('a control tells when it failed, by which change it began to, and what ended that', async () => {
    const { began, assess } = scene;
    const answer = await assess();
    expect(controlOf(answer, 'PCI-DSS-1.2')).toMatchObject({
      status: 'fail',
      passing_share: 0.8333,
      failing: [
        {
          from: at(began),
          to: at(began + DAY_MS),
          begun_by: null,
          ended_by: { actor: 'user:admin', direct: true, reviewed_by: null, resources: ['created MeshPolicy/base'] },
        },
      ],
      changes: [],
    });
    expect(controlOf(answer, 'PCI-DSS-1.3')).toMatchObject({
      status: 'fail',
      failing: [
        {
          from: at(began + 2 * DAY_MS),
          to: at(began + 3 * DAY_MS),
          begun_by: { resources: ['created MeshPolicy/open'] },
          ended_by: { revision: null, resources: ['ended MeshPolicy/open'] },
        },
      ],
    });
  });

  test('what was approved by nobody fails the controls of changes, and is named', async () => {
    const { assess, auto } = scene;
    const answer = await assess();
    const [management, logged] = ['PCI-DSS-6.4', 'PCI-DSS-10.2'].map((id) => controlOf(answer, id));
    expect(management).toMatchObject({ status: 'fail', failing: [{ begun_by: { workflow_id: auto } }] });
    expect(management?.evidence).toContain(auto);
    expect(logged).toMatchObject({ status: 'fail', passing_share: 0 });
    expect(logged?.failing.map(({ begun_by: by }) => [by?.direct, by?.reviewed_by])).toEqual([
      [true, null],
      [true, null],
      [false, null],
    ]);
  });

  test('the score counts what passes among what passes or fails', async () => {
    const { controls, score, status, summary } = await scene.assess();
    const count = (wanted: string) => controls.filter((one: ControlResult) => one.status === wanted).length;
    expect(score).toBe(Math.round((100 * count('pass')) / (count('pass') + count('fail'))));
    expect([status, summary]).toEqual([
      'partial',
      expect.stringContaining(`${count('pass')} pass, ${count('fail')} fail`),
    ]);
  });

  test('a later period knows nothing of what failed before it', async () => {
    const { began, assess } = scene;
    const answer = await assess({ period_start: at(began + 1.5 * DAY_MS), period_end: at(began + 1.75 * DAY_MS) });
    expect(controlOf(answer, 'PCI-DSS-1.2')).toMatchObject({ status: 'pass', remediation: '', passing_share: 1 });
    expect(controlOf(answer, 'PCI-DSS-10.2')).toMatchObject({ status: 'pass' });
    expect(controlOf(answer, 'PCI-DSS-10.2').evidence).toContain('0 policy changes in the period');
  });

  test('where a policy mends a control that fails now, it is there as a plan takes it, with its effect', async () => {
    await using kit = await buildHistoryKit();
    await kit.join('card-1', { 'compliance.scope': 'cde' });
    await kit.join('web-1', { role: 'web' });
    const range = { period_start: at(kit.clock.time - 1), period_end: at(kit.clock.time) };
    const answer = await kit.ask('assess_compliance', { framework: 'PCI', ...range });
    const { changes, effect } = controlOf(answer, 'PCI-DSS-1.2');
    expect(effect).toMatchObject({ opened_pairs: 0, closed_pairs: 2, holds_after: true });
    const plan = await kit.ask('plan_network_change', { intent: 'close it', changes });
    expect(plan.changes).toMatchObject([{ action: 'create', resource: 'MeshPolicy', name: 'deny-all' }]);
  });
});

describe('without evidence', () => {
  test('no control passes on nothing but the four of the contract, which say so', async () => {
    await using kit = await buildHistoryKit();
    const range = { period_start: at(kit.clock.time - 1), period_end: at(kit.clock.time) };
    const none = /^(?:At the end of the period: )?(?:0 |No |There (?:is|are) no)/;
    for (const framework of ['pci-dss', 'soc2', 'hipaa']) {
      const answer = await kit.ask('assess_compliance', { framework, ...range });
      const passing = answer.controls.filter((one: ControlResult) => one.status === 'pass' && one.passing_of !== 'now');
      const four = framework === 'pci-dss' ? ['PCI-DSS-1.3', 'PCI-DSS-6.4', 'PCI-DSS-10.2'] : [];
      expect(passing.map(({ id }: ControlResult) => id)).toEqual(four);
      for (const { evidence } of passing) expect(evidence).toMatch(none);
      // Whoever reads what is to be done learns by whom.
      for (const { id, status, remediation } of answer.controls as readonly ControlResult[]) {
        const says =
          status === 'pass' ? /^$/ : /^(?:An? (?:\w+ )?\w+|The \w+|These \w+|Their \w+|Whoever may|Nothing) /;
        expect([id, remediation]).toEqual([id, expect.stringMatching(says)]);
      }
    }
  });

  test('a period before the workspace is accepted, and said to be that', async () => {
    const { began, assess } = scene;
    const before = { period_start: at(began - 9 * DAY_MS), period_end: at(began - 8 * DAY_MS) };
    const answer = await assess(before);
    expect(answer.gaps).toEqual([
      `The workspace exists since ${at(began)}: before it there was nothing.`,
      expect.stringContaining('The settings of the workspace were changed 2 times'),
    ]);
    expect(controlOf(answer, 'PCI-DSS-1.2')).toMatchObject({ status: 'fail' });
    const nothing = { status: 'insufficient_evidence', evidence: 'Nothing is known of the network in the period.' };
    expect(controlOf(answer, 'PCI-DSS-1.2.6')).toMatchObject(nothing);
    expect(answer.controls.filter(({ evidence }: ControlResult) => evidence === '')).toEqual([]);
  });

  test('what holds in the part that is kept is no proof for the part that is not', async () => {
    await using kit = await buildHistoryKit({ edition: 'pro' });
    const began = kit.clock.time;
    await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
    await kit.join('card-1', { 'compliance.scope': 'cde' });
    kit.clock.time += 30 * DAY_MS;
    await kit.ask('update_policy', { id: 'base', spec: { action: 'DENY', peerSelector: {}, ingress: [], egress: [] } });
    kit.clock.time += 366 * DAY_MS;
    await enforceRetention(kit.services, kit.workspace);
    const period = { period_start: at(began + 29.5 * DAY_MS), period_end: at(began + 300 * DAY_MS) };
    const kept = await kit.services.store.keptFrom(kit.workspace);
    expect(kept?.at).toBe(began + 30 * DAY_MS);
    const answer = await kit.ask('assess_compliance', { framework: 'pci-dss', ...period });
    expect(answer.gaps[0]).toContain(at(kept?.at ?? 0));
    expect(controlOf(answer, 'PCI-DSS-1.3.1')).toMatchObject({ status: 'insufficient_evidence', passing_share: 1 });
    for (const id of ['PCI-DSS-1.2', 'PCI-DSS-1.3', 'PCI-DSS-6.4', 'PCI-DSS-10.2']) {
      expect([id, controlOf(answer, id).status]).toEqual([id, 'fail']);
      expect(controlOf(answer, id).evidence).toContain(`${at(began + 29.5 * DAY_MS)} to ${at(kept?.at ?? 0)}`);
    }
  });

  test('a peer whose label is moved away, and a change of the settings, are told', async () => {
    await using kit = await buildHistoryKit();
    const began = kit.clock.time;
    kit.clock.time += DAY_MS;
    await kit.join('card-1', { 'compliance.scope': 'cde' });
    await kit.ask('update_peer', { id: 'card-1', labels: { role: 'web' } });
    await kit.ask('update_workspace', { settings: { compliance: { sources: ['203.0.113.0/24'] } } });
    const period = { period_start: at(began), period_end: at(kit.clock.time + DAY_MS / 2) };
    const { gaps, period_end } = await kit.ask('assess_compliance', { framework: 'pci-dss', ...period });
    expect(period_end).toBe(at(kit.clock.time));
    expect(gaps.join(' ')).toMatch(/end of the period lies ahead.*settings.*1 time.*user:admin.*1 peer left.*card-1/);
  });

  test('a peer that left the scope twice is one peer that left', async () => {
    await using kit = await buildHistoryKit();
    const began = kit.clock.time;
    kit.clock.time += DAY_MS;
    await kit.join('card-1', { 'compliance.scope': 'cde' });
    for (const labels of [{}, { 'compliance.scope': 'cde' }, {}])
      await kit.ask('update_peer', { id: 'card-1', labels });
    const { gaps } = await kit.ask('assess_compliance', { framework: 'pci-dss', period_start: at(began) });
    expect(gaps.filter((text: string) => text.includes('left the scope'))).toEqual([
      expect.stringMatching(
        /^1 peer left the scope in the period: card-1 \(p_\w+, labels changed at .*, and labels changed at /,
      ),
    ]);
  });

  test('the labels of the workspace decide who is in scope', async () => {
    await using kit = await buildHistoryKit();
    await kit.join('till-1', { zone: 'card' });
    const period = { period_start: at(kit.clock.time - 1), period_end: at(kit.clock.time) };
    const assess = () => kit.ask('assess_compliance', { framework: 'pci-dss', ...period });
    expect(controlOf(await assess(), 'PCI-DSS-1.3.1').status).toBe('insufficient_evidence');
    await kit.ask('update_workspace', { settings: { compliance: { cde: ['zone=card'] } } });
    const answer = await assess();
    expect([answer.scope, controlOf(answer, 'PCI-DSS-1.3.1').status]).toEqual(['zone=card', 'fail']);
    await kit.ask('update_workspace', { settings: { compliance: null } });
    expect((await assess()).scope).toContain('compliance.scope=cde');
  });
});

describe('what is refused', () => {
  test('each bad request says what to do', async () => {
    const { began, assess, kit } = scene;
    const now = kit.clock.time;
    const bad = [
      [{ framework: 'iso27001' }, /pci-dss, soc2, hipaa/],
      [{ framework: '' }, /framework/],
      [{ period_start: at(now), period_end: at(began) }, /swap the two instants/],
      [{ period_start: at(began), period_end: at(began) }, /period is empty/],
      [{ period_start: at(now), period_end: at(now + 1) }, /period is empty/],
      [{ period_start: at(now + DAY_MS), period_end: at(now + 2 * DAY_MS) }, /future/],
      [{ period_end: at(now + DAY_MS + 1) }, /future/],
      [{ period_start: '1970-01-01T00:00:00Z' }, /longer than 366 days/],
      [{ period_start: 'the other day' }, /2026-01-31T12:00:00Z/],
      [{ period_start: undefined }, /period_start/],
    ] as const;
    for (const [fields, text] of bad) {
      await expect(assess(fields)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(text),
      });
    }
  });

  test('aliases of a framework are taken in any case, and echoed as they were written', async () => {
    for (const [name, canonical] of [
      ['PCI_DSS', 'pci-dss'],
      ['SOC2 Type II', 'soc2'],
      ['soc-2', 'soc2'],
      ['HIPAA-Security', 'hipaa'],
    ]) {
      const answer = await scene.assess({ framework: name });
      expect([answer.framework, answer.canonical_framework]).toEqual([name, canonical]);
    }
  });

  test('whoever does not hold compliance:assess assesses nothing', async () => {
    await using kit = await buildWorkspaceKit();
    const asked = { framework: 'soc2', period_start: at(kit.clock.time - 1), period_end: at(kit.clock.time) };
    expect(await refusalOf(kit.as('operator')('assess_compliance', asked))).toBe('forbidden compliance:assess');
    expect((await kit.as('auditor')('assess_compliance', asked)).framework).toBe('soc2');
  });
});
