import { visibleText } from '../../base/as-data.ts';
import { catalogOf } from '../../compliance/catalog.ts';
import type { ControlResult, FailingInterval } from '../../compliance/control-result.ts';
import { type About, type Assessment, controlPath, type RawFile, SUMMARY_PATH } from './about.ts';
import { text } from './markdown.ts';
import { tokenOf, uuidOf } from './oscal-ids.ts';
import { METHOD, NO_CERTIFICATE, shareText } from './texts.ts';

const OSCAL_VERSION = '1.1.3';
/** The namespace of properties that NIST does not define. It is a name that nobody fetches; validators require a URL. */
const NAMESPACE = 'https://mesh.invalid/oscal';
/** The document lies in a folder of the archive. */
const ROOT = '..';

interface Scene {
  readonly assessment: Assessment;
  readonly about: About;
  /** A UUID that no other assessment has, the same each time. */
  readonly uuid: (name: string) => string;
}

/**
 * `oscal/assessment-results.json`: the assessment as NIST OSCAL 1.1 assessment results (docs/evidence-oscal.md). Text fields
 * are Markdown there; values of properties are one line. It says nothing of the export, so that each export has the same bytes.
 */
export function oscalResults(assessment: Assessment, about: About): string {
  const uuid = (name: string) => uuidOf(`${assessment.evidence_id}:${name}`);
  const scene: Scene = { assessment, about, uuid };
  const body = documentOf(scene);
  // Another content is another document.
  const document = { uuid: uuid(`document:${JSON.stringify(body)}`), ...body };
  return `${visibleText(JSON.stringify({ 'assessment-results': document }, null, 2))}\n`;
}

function documentOf(scene: Scene) {
  const { assessment, about, uuid } = scene;
  const { title } = catalogOf(assessment.canonical_framework);
  return {
    metadata: {
      title: text(`${title}: assessment of the workspace ${about.workspace.name}`),
      'last-modified': assessment.generated_at,
      version: propText(assessment.evidence_id),
      'oscal-version': OSCAL_VERSION,
      props: [
        prop('framework', assessment.canonical_framework),
        prop('framework-as-asked', assessment.framework),
        prop('installation', about.installation),
        prop('workspace-id', about.workspace.id),
      ],
      remarks: NO_CERTIFICATE,
    },
    'import-ap': {
      href: `#${uuid('plan')}`,
      remarks: 'There is no assessment plan in OSCAL. The resource says by what the controls were judged.',
    },
    'local-definitions': { 'objectives-and-methods': assessment.controls.map(objectiveOf) },
    results: [resultOf(scene, title)],
    'back-matter': { resources: [planResource(scene, title), ...about.raw.map((file) => rawResource(scene, file))] },
  };
}

/** Returns the target of a finding. OSCAL attaches results to an objective of a control, not to the control itself. */
function objectiveOf({ id, title, check, caveat }: ControlResult) {
  return {
    'control-id': tokenOf(id),
    description: text(title),
    props: [prop('control-id', id), prop('check', check)],
    parts: [
      {
        id: objectiveId(id),
        name: 'assessment-objective',
        prose: text(`${title}. Judged by the check ${check}. ${caveat}`),
      },
    ],
  };
}

function objectiveId(id: string): string {
  return `${tokenOf(id)}_obj`;
}

function resultOf(scene: Scene, title: string) {
  const { assessment, about, uuid } = scene;
  const { controls } = assessment;
  return {
    uuid: uuid('result'),
    title: text(`${title} from ${assessment.period_start} to ${assessment.period_end}`),
    description: text(assessment.summary),
    start: assessment.period_start,
    end: assessment.period_end,
    props: [
      prop('status', assessment.status),
      prop('score', String(assessment.score)),
      prop('scope', assessment.scope),
      prop('assessed-by', assessment.generated_by),
      prop('states-evaluated', String(assessment.states_evaluated)),
    ],
    'local-definitions': {
      components: [
        {
          uuid: uuid('network'),
          type: 'network',
          title: text(about.workspace.name),
          description: text(`The overlay network of the workspace ${about.workspace.id}.`),
          status: { state: 'operational' },
        },
      ],
      'assessment-assets': {
        components: [
          {
            uuid: uuid('tool'),
            type: 'software',
            title: `Mesh ${text(about.version)}`,
            description: 'The control plane of the network, which judges it from its own records.',
            props: [prop('version', about.version)],
            status: { state: 'operational' },
          },
        ],
        'assessment-platforms': [
          {
            uuid: uuid('platform'),
            title: text(about.installation),
            'uses-components': [{ 'component-uuid': uuid('tool') }],
          },
        ],
      },
    },
    'reviewed-controls': {
      description: 'Every control of the catalogue that the product judges.',
      'control-selections': [{ 'include-controls': controls.map(({ id }) => ({ 'control-id': tokenOf(id) })) }],
      'control-objective-selections': [
        { 'include-objectives': controls.map(({ id }) => ({ 'objective-id': objectiveId(id) })) },
      ],
    },
    observations: controls.flatMap((control) => observationsOf(scene, control)),
    findings: controls.map((control) => findingOf(scene, control)),
    ...(assessment.gaps.length > 0 && {
      remarks: `What is not known: ${assessment.gaps.map((gap) => text(gap)).join(' ')}`,
    }),
  };
}

/** Returns one observation for the whole control, then one for each interval in which it failed. */
function observationsOf(scene: Scene, control: ControlResult) {
  const whole = observation(scene, control, {
    name: control.id,
    title: `${control.id} ${control.title}`,
    description: control.evidence,
    type: 'control-objective',
    props: [
      prop('check', control.check),
      prop('strength', control.strength),
      prop('held', shareText(control)),
      ...(control.omitted_failing > 0 ? [prop('intervals-not-told', String(control.omitted_failing))] : []),
    ],
  });
  const intervals = control.failing.map((interval, index) =>
    observation(scene, control, {
      name: intervalName(control, index),
      title: `${control.id} failed from ${interval.from} to ${interval.to}`,
      description: interval.facts,
      type: 'finding',
      props: intervalProps(interval),
    }),
  );
  return [whole, ...intervals];
}

function intervalName({ id }: ControlResult, index: number): string {
  return `${id}:failing:${index}`;
}

interface Observation {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly type: 'control-objective' | 'finding';
  readonly props: readonly object[];
}

/** Returns an observation. Controls on states were simulated (TEST); those on records were read (EXAMINE). */
function observation({ assessment, about, uuid }: Scene, control: ControlResult, observed: Observation) {
  return {
    uuid: uuid(`observation:${observed.name}`),
    title: text(observed.title),
    description: text(observed.description) || 'Nothing is told.',
    props: [prop('control-id', control.id), ...observed.props],
    methods: [control.passing_of === 'time' ? 'TEST' : 'EXAMINE'],
    types: [observed.type],
    origins: [{ actors: [{ type: 'tool', 'actor-uuid': uuid('tool') }] }],
    subjects: [{ 'subject-uuid': uuid('network'), type: 'component' }],
    'relevant-evidence': [
      { href: hrefOf(controlPath(control.id)), description: 'The result of the control, in words.' },
      ...about.raw.map(({ path, title }) => ({ href: `#${uuid(`raw:${path}`)}`, description: text(title) })),
    ],
    collected: assessment.generated_at,
  };
}

function intervalProps({ from, to, begun_by: begun, ended_by: ended }: FailingInterval) {
  const values = {
    from,
    to,
    'begun-by-revision': begun?.revision?.toString(),
    'begun-by-actor': begun?.actor,
    'begun-by-workflow': begun?.workflow_id,
    'begun-reviewed-by': begun?.reviewed_by,
    'ended-by-revision': ended?.revision?.toString(),
    'ended-by-actor': ended?.actor,
    'ended-by-workflow': ended?.workflow_id,
  };
  return Object.entries(values).flatMap(([name, value]) => (value ? [prop(name, value)] : []));
}

const STATES = {
  pass: { state: 'satisfied', reason: 'pass' },
  fail: { state: 'not-satisfied', reason: 'fail' },
  // OSCAL knows no third state.
  insufficient_evidence: {
    state: 'not-satisfied',
    reason: 'other',
    remarks: 'Insufficient evidence: there was nothing to judge, or no record of it is kept. It was not seen to fail.',
  },
} as const;

function findingOf({ uuid }: Scene, control: ControlResult) {
  const observed = [control.id, ...control.failing.map((_, index) => intervalName(control, index))];
  return {
    uuid: uuid(`finding:${control.id}`),
    title: text(`${control.id} ${control.title}`),
    description: text(control.evidence) || 'Nothing was found.',
    props: [
      prop('control-id', control.id),
      prop('status', control.status),
      prop('strength', control.strength),
      ...control.references.map((reference) => prop('reference', reference)),
    ],
    target: { type: 'objective-id', 'target-id': objectiveId(control.id), status: STATES[control.status] },
    'related-observations': observed.map((name) => ({ 'observation-uuid': uuid(`observation:${name}`) })),
    remarks: [`Caveat: ${text(control.caveat)}`, control.remediation && `What to do: ${text(control.remediation)}`]
      .filter((sentence) => sentence !== '')
      .join('\n\n'),
  };
}

function planResource({ assessment, uuid }: Scene, title: string) {
  return {
    uuid: uuid('plan'),
    title: `${title}: controls and checks`,
    description: METHOD.join(' '),
    props: [prop('framework', assessment.canonical_framework)],
    rlinks: [{ href: hrefOf(SUMMARY_PATH), 'media-type': 'text/markdown' }],
    remarks:
      'Ids of controls are those of Mesh. In tokens each character other than letters, digits, dots and hyphens is written as an underscore and two hexadecimal digits; the property control-id has the id itself.',
  };
}

function rawResource({ uuid }: Scene, { path, title, mediaType, sha256 }: RawFile) {
  const hashes = sha256 === undefined ? {} : { hashes: [{ algorithm: 'SHA-256', value: sha256 }] };
  return {
    uuid: uuid(`raw:${path}`),
    title: text(title),
    rlinks: [{ href: hrefOf(path), 'media-type': mediaType, ...hashes }],
  };
}

function hrefOf(path: string): string {
  return `${ROOT}/${encodeURI(path)}`;
}

function prop(name: string, value: string) {
  return { name, ns: NAMESPACE, value: propText(value) };
}

/** A value of OSCAL: one line, neither empty nor with space around it. */
function propText(words: string): string {
  return (
    visibleText(words)
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim() || '-'
  );
}
