import { compliance } from '../../texts/compliance.ts';
import type { AssessmentRow, ControlStatus } from './types.ts';

const TONES: Record<ControlStatus, string> = { pass: 'ok', fail: 'danger', insufficient_evidence: 'warn' };
const MARKS: Record<ControlStatus, string> = { pass: '●', fail: '▲', insufficient_evidence: '○' };
const OVERALL: Record<AssessmentRow['status'], ControlStatus> = {
  pass: 'pass',
  fail: 'fail',
  partial: 'insufficient_evidence',
};

/** Word, shape and colour. */
export function ControlState({ status }: { status: ControlStatus }) {
  return <State of={status} text={compliance.states[status]} />;
}

export function OverallState({ status }: { status: AssessmentRow['status'] }) {
  return <State of={OVERALL[status]} text={compliance.overall[status]} />;
}

function State({ of, text }: { of: ControlStatus; text: string }) {
  return (
    <span class={`tag ${TONES[of]}`}>
      <span aria-hidden="true">{MARKS[of]}</span> {text}
    </span>
  );
}
