import { here, Problem } from './api.js';
import { effectOf } from './effect.js';
import { $, element, risk, say, show, time } from './page.js';

export function showWorkflow(workflow) {
  const { id, summary, changes, effect, status } = workflow;
  const review = $('#review');
  if (review.dataset.workflow !== id) review.reset();
  review.dataset.workflow = id;
  review.hidden = status !== 'pending';
  $('#workflow h1').textContent = summary;
  $('#facts').replaceChildren(...factsOf(workflow));
  $('#call').replaceChildren(...callOf(workflow.call));
  $('#effect').replaceChildren(...effectOf(effect));
  $('#changes').replaceChildren(...changes.map(changeOf));
  show('workflow');
}

function factsOf(workflow) {
  const { status, riskLevel, riskReasons, warnings, requestedBy, requestedAt, expiresAt, intent } = workflow;
  const facts = [
    ['Status', workflow.error ? `${status}: ${workflow.error}` : status],
    ['Next', isToRepeat(workflow) && REPEAT],
    ['Risk', [risk(riskLevel), ...riskReasons.map((reason) => element('p', {}, reason))]],
    ['Warnings', warnings.map((warning) => element('p', {}, warning))],
    ['Asked for', intent],
    ['Read by', workflow.plannedBy && `${READERS[workflow.plannedBy]}: ${workflow.reading}`],
    ['Verified', verificationOf(workflow)],
    ['Requested by', [`${requestedBy}, `, time(requestedAt)]],
    ['Approval asked of', workflow.approvalAskedOf],
    ['Expires', status === 'pending' && [time(expiresAt)]],
    ['Reviewed by', workflow.reviewedBy && [`${workflow.reviewedBy}, `, time(workflow.reviewedAt)]],
    ['Note', workflow.note],
  ];
  return facts
    .filter(([, value]) => value && value.length > 0)
    .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, ...[value].flat())]);
}

const READERS = {
  caller: 'Whoever asked',
  grammar: 'The built-in planner',
  model: 'A language model',
  revert: 'The history',
};

/** Whether the effect was held against what was asked. */
function verificationOf({ verification, objections, overridden }) {
  if (!verification) return undefined;
  const mark = element('span', { className: `verification ${verification}` }, VERIFICATIONS[verification]);
  const whose = overridden
    ? [element('p', {}, 'Put forward all the same, by someone who may (intents:override).')]
    : [];
  return [mark, ...whose, ...objections.map((objection) => element('p', {}, objection))];
}

const VERIFICATIONS = {
  proven: 'Proven: the computed effect is what the reading says. Judge whether that is what was meant.',
  unproven: 'Not proven: nothing was said that the effect could be held against. Judge the effect yourself.',
  unmet: 'It does not do what was asked.',
};

/** An approved call that is not carried out yet. */
const isToRepeat = ({ status, call }) => status === 'approved' && call !== null;
const REPEAT =
  'Nothing has changed yet: who asked has to repeat the call, unless another workspace still has to approve it.';

/** What is carried out on approval, as it was sent. */
function callOf(call) {
  if (!call) return [];
  const input = element('pre', { tabIndex: 0 }, JSON.stringify(call.input, null, 2));
  input.setAttribute('aria-label', `Input of ${call.operation}`);
  return [element('h2', {}, 'Call'), element('p', {}, element('code', {}, call.operation)), input];
}

function changeOf({ action, resource, name, before, after }) {
  const side = (title, yaml) => {
    const text = element('pre', { tabIndex: 0 }, yaml || '(nothing)');
    text.setAttribute('aria-label', `${title}: ${resource} ${name}`);
    return element('figure', {}, element('figcaption', {}, title), text);
  };
  const sides = element('div', { className: 'sides' }, side('Before', before), side('After', after));
  return element('article', {}, element('h3', {}, `${action} ${resource} ${name}`), sides);
}

/** Approves or rejects the workflow that is shown. */
export async function review(verb) {
  const id = $('#review').dataset.workflow;
  const note = $('#note').value.trim();
  const workflow = await here('POST', `/workflows/${id}/${verb}`, note ? { note } : {});
  $('#review').reset();
  showWorkflow(workflow);
  $('#workflow h1').focus();
  if (workflow.error) throw new Problem({ title: 'The change failed', detail: workflow.error });
  say(`The change is ${workflow.status}.${isToRepeat(workflow) ? ` ${REPEAT}` : ''}`);
}
