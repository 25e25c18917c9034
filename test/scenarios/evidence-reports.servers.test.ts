import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';
import { controlMarkdown } from '../../core/evidence/reports/control-markdown.ts';
import { oscalResults } from '../../core/evidence/reports/oscal.ts';
import { executiveSummary } from '../../core/evidence/reports/summary.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { type PythonJudges, pythonJudges } from '../kits/process/python-judges.ts';
import { aboutArchive, anAssessment, HOSTILE_NAMES } from '../kits/records/assessments.ts';

const INSTALL_MS = 400_000;

function folderFor(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe.skipIf(!isInstalled('python3'))('programs that are not ours', () => {
  let judges: PythonJudges | undefined;
  beforeAll(() => {
    judges = pythonJudges();
  }, INSTALL_MS);

  test(
    'compliance-trestle and a metaschema validator read the OSCAL of each framework, and refuse others',
    async (context) => {
      if (!judges) return context.skip('the judges in Python cannot be had');
      const folder = folderFor();
      const names = ['production', ...HOSTILE_NAMES.slice(0, 4)];
      const cases = FRAMEWORKS.flatMap((framework) => names.map((name) => ({ framework, name })));
      const files = cases.map(({ framework, name }, index) => {
        const file = path.join(folder, `${index}.json`);
        writeFileSync(file, oscalResults(anAssessment(framework, { name }), aboutArchive({ name })));
        return file;
      });
      const { code, stdout, stderr } = await judges('oscal_results.py', files);
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toEqual(
        cases.map(({ framework }) => ({
          version: 'v1.1.3',
          states: anAssessment(framework).controls.map(({ status }) =>
            status === 'pass' ? 'satisfied' : 'not-satisfied',
          ),
        })),
      );

      const whole = JSON.parse(oscalResults(anAssessment(), aboutArchive()));
      const wrong = [
        (results: typeof whole) => delete results['import-ap'],
        (results: typeof whole) => (results.results[0].findings[0].target['target-id'] = 'HIPAA-164.312(b)'),
        (results: typeof whole) => (results.results[0].findings[0].target.status.state = 'unknown'),
        (results: typeof whole) => (results.results[0].observations[0].uuid = 'one'),
      ];
      for (const change of wrong) {
        const changed = structuredClone(whole);
        change(changed['assessment-results']);
        const file = path.join(folder, 'wrong.json');
        writeFileSync(file, JSON.stringify(changed));
        expect((await judges('oscal_results.py', [file])).code, String(change)).toBe(1);
      }
    },
    INSTALL_MS,
  );

  test(
    "GitHub's Markdown keeps every table whole and makes nothing of names but text",
    async (context) => {
      if (!judges) return context.skip('the judges in Python cannot be had');
      const pagesOf = (name: string) => {
        const [assessment, about] = [anAssessment('hipaa', { name }), aboutArchive({ name })];
        return [
          executiveSummary(assessment, about),
          ...assessment.controls.map((control) => controlMarkdown(control, assessment, about)),
        ];
      };
      const elements = (page: string) => (page.match(/<[a-z][a-z0-9]*/g) ?? []).join(' ');
      const names = ['production', ...HOSTILE_NAMES];
      const { stdout, stderr } = await judges('github_markdown.py', [], JSON.stringify(names.map(pagesOf)));
      expect(stderr).toBe('');
      const [plain, ...rendered] = (JSON.parse(stdout) as string[][]).map((pages) => pages.map(elements));
      for (const [index, name] of HOSTILE_NAMES.entries()) expect(rendered[index], name).toEqual(plain);
    },
    INSTALL_MS,
  );

  test(
    'securesystemslib verifies a signed archive, and refuses another key and another file',
    async (context) => {
      if (!judges) return context.skip('the judges in Python cannot be had');
      const folder = folderFor();
      const [own, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
      mkdirSync(path.join(folder, 'controls'));
      writeFileSync(path.join(folder, 'controls/one.md'), 'one');
      const pem = (pair: typeof own) => pair.publicKey.export({ type: 'spki', format: 'pem' });
      writeFileSync(path.join(folder, 'public-key.pem'), pem(own));
      const digest = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
      const subject = [
        { name: 'controls/one.md', digest: { sha256: digest('one') } },
        { name: 'public-key.pem', digest: { sha256: digest(pem(own)) } },
      ];
      const payload = Buffer.from(JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject }));
      const type = 'application/vnd.in-toto+json';
      const bytes = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload]);
      const sig = sign(null, bytes, own.privateKey).toString('base64');
      const envelope = {
        payloadType: type,
        payload: payload.toString('base64'),
        signatures: [{ keyid: 'key-1', sig }],
      };
      writeFileSync(path.join(folder, 'attestation.json'), JSON.stringify(envelope));
      const accepted = await judges('envelope.py', [folder]);
      expect([accepted.code, accepted.stdout.trim()]).toEqual([0, `{"payloadType": "${type}", "keys": 1, "files": 2}`]);

      const otherKey = path.join(folderFor(), 'other.pem');
      writeFileSync(otherKey, pem(other));
      const foreign = await judges('envelope.py', [folder, otherKey]);
      expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('the signature is not of this key')]);
      writeFileSync(path.join(folder, 'controls/one.md'), 'two');
      const changed = await judges('envelope.py', [folder]);
      expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('not as signed: controls/one.md')]);
    },
    INSTALL_MS,
  );
});
