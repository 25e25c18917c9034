import { newId } from '../base/ids.ts';
import type { NoStatus, RecordDraft, StoredRecord } from '../base/record.ts';
import { snapshotNameAt } from '../history/snapshot-record.ts';
import type { AssessmentResult } from './assess.ts';
import type { ControlResult, ControlStatus } from './control-result.ts';
import type { Framework } from './frameworks.ts';

/** A stored assessment without the results of its controls, which are in its pages. */
export interface AssessmentSpec extends Omit<AssessmentResult, 'controls'> {
  readonly framework: Framework;
  /** The name that the caller had for it. */
  readonly asked: string;
  /** Milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly generatedAt: number;
  /** Actor, such as `user:ada`. */
  readonly generatedBy: string;
  /** The due instant of the schedule that made it, ms. */
  readonly dueAt?: number;
  /** By the ids of controls. */
  readonly statuses: Readonly<Record<string, ControlStatus>>;
  readonly pages: number;
}

/** A part of the JSON of an assessment's controls: one record is not large enough for all. */
interface AssessmentPageSpec {
  readonly assessment: string;
  readonly text: string;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Assessment: { spec: AssessmentSpec; status: NoStatus };
    AssessmentPage: { spec: AssessmentPageSpec; status: NoStatus };
  }
}

export type AssessmentRecord = StoredRecord<'Assessment'>;

/** Characters of one page: compressed they stay below what a record may have, whatever is in them. */
const PAGE_CHARACTERS = 6_000;

export type AssessmentFields = Omit<AssessmentSpec, 'statuses' | 'pages'> & {
  readonly controls: readonly ControlResult[];
};

/** The records of an assessment, the first of which is found by its id. Names run from the newest to the oldest. */
export function assessmentDrafts({
  controls,
  ...fields
}: AssessmentFields): readonly [RecordDraft<'Assessment'>, ...RecordDraft<'AssessmentPage'>[]] {
  const uid = newId('ev');
  const text = JSON.stringify(controls);
  const pages: RecordDraft<'AssessmentPage'>[] = [];
  for (let from = 0; from < text.length; from += PAGE_CHARACTERS) {
    const spec = { assessment: uid, text: text.slice(from, from + PAGE_CHARACTERS) };
    pages.push({ ...EMPTY, kind: 'AssessmentPage', name: pageName(uid, pages.length), uid: newId('ev'), spec });
  }
  const statuses = Object.fromEntries(controls.map(({ id, status }) => [id, status]));
  const spec: AssessmentSpec = { ...fields, statuses, pages: pages.length };
  const name = `${snapshotNameAt(fields.generatedAt)}.${uid}`;
  const { framework, dueAt } = fields;
  const unique = dueAt === undefined ? [] : [dueKey(framework, dueAt)];
  return [{ ...EMPTY, kind: 'Assessment', name, uid, spec, unique }, ...pages];
}

/** Held by the assessment that a schedule made for a due instant, so that there is one. */
export function dueKey(framework: Framework, dueAt: number): string {
  return `assessed:${framework}:${dueAt}`;
}

export function pageName(uid: string, index: number): string {
  return `${uid}.${index}`;
}

const EMPTY = { labels: {}, annotations: {}, status: {}, unique: [] } as const;
