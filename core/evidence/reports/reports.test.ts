import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aboutArchive, anAssessment, HOSTILE_NAMES } from '../../../test/kits/records/assessments.ts';
import { FRAMEWORKS } from '../../compliance/frameworks.ts';
import { type About, type Assessment, controlPath } from './about.ts';
import { controlMarkdown } from './control-markdown.ts';
import { oscalResults } from './oscal.ts';
import { idOfToken, tokenOf, uuidOf } from './oscal-ids.ts';
import { reportHtml } from './report-html.ts';
import { executiveSummary } from './summary.ts';
import { failingFirst, shareText } from './texts.ts';

const DOCUMENTS: Readonly<Record<string, (assessment: Assessment, about: About) => string>> = {
  'executive-summary.md': executiveSummary,
  'oscal/assessment-results.json': oscalResults,
  'report.html': reportHtml,
  'controls/…-result.md': (assessment, about) =>
    assessment.controls.map((control) => controlMarkdown(control, assessment, about)).join(''),
};

/** The tags of a page, without what a value wrote. */
const tags = (page: string) => (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.split(/[\s>]/)[0]).join(' ');

describe.each(Object.entries(DOCUMENTS))('%s', (_, write) => {
  test('is the same bytes for the same assessment', () => {
    for (const framework of FRAMEWORKS) {
      expect(write(anAssessment(framework), aboutArchive())).toBe(write(anAssessment(framework), aboutArchive()));
    }
  });

  test('spells out what is not seen or turns the direction of text', () => {
    for (const name of HOSTILE_NAMES) {
      expect(write(anAssessment('hipaa', { name }), aboutArchive({ name }))).not.toMatch(
        /[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u,
      );
    }
    const [name = ''] = HOSTILE_NAMES;
    expect(write(anAssessment('hipaa', { name }), aboutArchive({ name }))).toContain('\\u202e');
  });
});

describe('the summary', () => {
  const summary = executiveSummary(anAssessment(), aboutArchive());

  test('says which framework, workspace, period and score, and what is missing', () => {
    for (const words of [
      '| Framework | PCI DSS (asked for as `PCI-DSS`, identifier `pci-dss`) |',
      '| Overall status | **partial** |',
      '| Score | 75 of 100 |',
      '| Controls | 35: 21 pass, 7 fail, 7 with insufficient evidence |',
      '| Period | `2026-01-01T00:00:00.000Z` to `2026-04-01T00:00:00.000Z` |',
      '| Workspace | `production` (`w_abcdefghijklmnopqrstuvwxyz`) |',
      'It is no certificate',
      '- The workspace exists since 2026-01-05T10:00:00.000Z: before it there was nothing.',
      '`SHA256:6xVnQbV2t2rSgq2uJ9Xb3bq0eN1x8m5w0bq8s2Qk4uE`',
    ]) {
      expect(summary).toContain(words);
    }
  });

  test('names each failing control with what to do and where its result is', () => {
    expect(summary).toContain(
      '- **`PCI-DSS-1.3` No direct public access to cardholder data** (fails still): A network operator isolates the peers in scope; a second person approves it: web-to-db. Details: `controls/PCI-DSS-1.3-result.md`.',
    );
  });

  test('puts first what fails still, then what failed for longest', () => {
    const assessment = anAssessment();
    const [first, second, third] = failingFirst(assessment);
    if (!first || !second || !third) throw new TypeError('three fail');
    const mended = { ...first, changes: [], failing: first.failing.slice(0, 2), passing_share: 0.1 };
    const longer = { ...second, passing_share: 0.2 };
    const changed = [third, mended, longer];
    const controls = assessment.controls.flatMap((control) => changed.filter(({ id }) => id === control.id));
    const changedAssessment = { ...assessment, controls };
    expect(failingFirst(changedAssessment).map(({ id }) => id)).toEqual([second.id, third.id, first.id]);
    expect(executiveSummary(changedAssessment, aboutArchive())).toContain(`${first.title}** (failed in the period): `);
  });
});

describe('the result of a control', () => {
  const assessment = anAssessment();
  const failing = assessment.controls.find(({ id }) => id === 'PCI-DSS-1.3');
  if (!failing) throw new TypeError('there is such a control');
  const page = controlMarkdown(failing, assessment, aboutArchive());

  test('tells each failing interval with its cause, who reviewed it, and the ids to look up', () => {
    expect(page).toContain(
      '| `2026-01-05T00:00:00.000Z` | `2026-01-22T00:00:00.000Z` | web-to-db reached db-1. | revision `104`; by `user:web-to-db`; workflow `wf_abcdefghijklmnopqrstuvwxyz`; reviewed by nobody; reason: opened for web-to-db; `updated MeshPolicy/web-to-db`; at `2026-01-05T00:00:00.000Z` | revision `121`; by `user:web-to-db`; workflow `wf_abcdefghijklmnopqrstuvwxyz`; reviewed by `user:grace`;',
    );
    expect(page).toContain('| `2026-01-02T00:00:00.000Z` | at once | web-to-db was open. |');
    expect(page).toContain('written directly');
    expect(page).toContain('not ended in the period');
    expect(page).toContain(
      '- `../raw-data/workflow-audit-log.csv`: workflows and who reviewed them by the workflow ids',
    );
  });

  test('has the changes that mend it as they can be planned, and their effect', () => {
    const [, json = ''] = /```json\n(.*?)\n```/s.exec(page) ?? [];
    expect(JSON.parse(json)).toEqual(failing.changes);
    expect(page).toMatch(/closes everything from [^.]+\. It opens 0 pairs/);
    expect(page).toContain('It opens 0 pairs and closes 4 pairs. The control holds after it.');
  });

  test('says nothing to do of a control that passes', () => {
    const [passing] = assessment.controls;
    if (!passing) throw new TypeError('there is one');
    const text = controlMarkdown(passing, assessment, aboutArchive());
    expect(text).toContain('| Status | **pass** |');
    expect(text).not.toMatch(/## (What to do|When it failed)/);
  });

  test('never says that all of the time passed where it failed for a moment', () => {
    expect(shareText({ ...failing, passing_share: 1 })).toBe('99.99 % of the known time');
    expect(shareText({ ...failing, passing_share: 1, failing: [] })).toBe('100 % of the known time');
    expect(shareText({ ...failing, passing_share: null })).toBe('nothing was judged');
    expect(shareText({ ...failing, passing_share: 0, passing_of: 'now' })).toBe('did not hold when assessed');
  });
});

describe('the report', () => {
  test('has the same elements whatever names others wrote', () => {
    const plain = tags(reportHtml(anAssessment('soc2'), aboutArchive()));
    for (const name of HOSTILE_NAMES) {
      const page = reportHtml(anAssessment('soc2', { name }), aboutArchive({ name }));
      expect(tags(page), name).toBe(plain);
    }
  });

  test('has no script, and its policy allows none and no request', () => {
    const page = reportHtml(anAssessment(), aboutArchive());
    expect(page).toContain(`content="default-src &#39;none&#39;; style-src &#39;sha256-`);
    expect(page).not.toMatch(/<script|<link|<img|<a |\son[a-z]+=|\bsrc=|\bhref=|url\(/);
  });
});

describe('OSCAL', () => {
  const parse = (text: string) => JSON.parse(text)['assessment-results'];

  test('has a finding of each control, whose observations, objective and raw files are in it', () => {
    const results = parse(oscalResults(anAssessment('hipaa'), aboutArchive()));
    const [result] = results.results;
    const objectives = results['local-definitions']['objectives-and-methods'].map(
      ({ parts }: { parts: [{ id: string }] }) => parts[0].id,
    );
    const observed = new Set(result.observations.map(({ uuid }: { uuid: string }) => uuid));
    const resources = new Set(results['back-matter'].resources.map(({ uuid }: { uuid: string }) => `#${uuid}`));
    expect(result.findings.map((finding: Finding) => finding.target['target-id'])).toEqual(objectives);
    for (const finding of result.findings as Finding[]) {
      for (const { 'observation-uuid': uuid } of finding['related-observations']) expect(observed).toContain(uuid);
    }
    for (const observation of result.observations as Observation[]) {
      const [own, ...raw] = observation['relevant-evidence'].map(({ href }) => href);
      expect(own).toMatch(/^\.\.\/controls\/HIPAA-[\w.()-]+-result\.md$/);
      for (const href of raw) expect(resources).toContain(href);
    }
    expect(resources).toContain(results['import-ap'].href);
  });

  test('calls what lacks evidence not satisfied for another reason than a failure', () => {
    const { controls, ...assessment } = anAssessment('soc2');
    const { findings } = parse(oscalResults({ ...assessment, controls }, aboutArchive())).results[0];
    const states = { pass: 'satisfied pass', fail: 'not-satisfied fail', insufficient_evidence: 'not-satisfied other' };
    expect(findings.map(({ target: { status } }: Finding) => `${status.state} ${status.reason}`)).toEqual(
      controls.map(({ status }) => states[status]),
    );
  });

  test('says nothing of the export, and another content is another document', () => {
    const about = aboutArchive();
    const once = oscalResults(anAssessment(), about);
    expect(oscalResults(anAssessment(), { ...about, exportedAt: about.exportedAt + 1 })).toBe(once);
    const other = parse(oscalResults({ ...anAssessment(), score: 1 }, about));
    expect(other.uuid).not.toBe(parse(once).uuid);
    expect(other.results[0].uuid).toBe(parse(once).results[0].uuid);
  });

  test('writes ids of controls as tokens from which they can be read', () => {
    expect(tokenOf('HIPAA-164.312(b)')).toBe('HIPAA-164.312_28b_29');
    expect(tokenOf('PCI-DSS-1.2')).toBe('PCI-DSS-1.2');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        expect(tokenOf(id)).toMatch(/^[_A-Za-z][_A-Za-z0-9.-]*$/);
        expect(idOfToken(tokenOf(id))).toBe(id);
      }),
    );
  });

  test('has UUIDs of version 5, as other programs make them', () => {
    // uuid.uuid5(uuid.NAMESPACE_URL, 'urn:mesh:oscal:ev_1:result') of Python
    expect(uuidOf('ev_1:result')).toBe('82992f9b-e581-5c34-9afe-a3b3c89fdae3');
  });
});

test('a file of a control stays in its folder, whatever its id', () => {
  expect(controlPath('HIPAA-164.312(b)')).toBe('controls/HIPAA-164.312(b)-result.md');
  expect(controlPath('../../etc/passwd')).toBe('controls/__.._etc_passwd-result.md');
});

interface Finding {
  readonly target: {
    readonly 'target-id': string;
    readonly status: { readonly state: string; readonly reason: string };
  };
  readonly 'related-observations': readonly { readonly 'observation-uuid': string }[];
}

interface Observation {
  readonly 'relevant-evidence': readonly { readonly href: string }[];
}
