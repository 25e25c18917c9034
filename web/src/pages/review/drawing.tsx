import type { Drawing, EffectKinds, WorkflowDetail } from '../../api/types.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { differenceOf } from '../../effect/difference.ts';
import { EffectGraph } from '../../effect/effect-graph.tsx';
import type { EffectLine } from '../../effect/grouped.ts';
import { KindsView } from '../../effect/kinds-view.tsx';
import { Lines } from '../../ui/lines.tsx';
import { Checks } from './checks.tsx';
import { Stale } from './stale.tsx';
import { useKinds } from './use-kinds.ts';

/** What a change does to the network as it is now, from the sentence to the pairs and the YAML. */
export function DrawingView({ workflow, drawing }: { workflow: WorkflowDetail; drawing: Drawing }) {
  const { effect, warnings, questions, changes } = drawing;
  const [opens, closes] = [useKinds(workflow.id, drawing, 'opens'), useKinds(workflow.id, drawing, 'closes')];
  const difference = differenceOf(workflow.effect, effect);
  return (
    <>
      <Stale workflow={workflow} drawing={drawing} />
      <EffectGraph opens={linesOf(opens.kinds)} closes={linesOf(closes.kinds)} />
      <KindsView
        kind="opens"
        shown={opens}
        pairs={effect.opened_pairs}
        outside={effect.opened_outside ?? 0}
        differing={drawing.differs ? difference.opened : []}
      />
      <KindsView
        kind="closes"
        shown={closes}
        pairs={effect.closed_pairs}
        outside={effect.closed_outside ?? 0}
        differing={drawing.differs ? difference.closed : []}
      />
      {drawing.risk_reasons.length > 0 && (
        <section class="stack-small">
          <h3>Risk</h3>
          <Lines lines={drawing.risk_reasons} />
        </section>
      )}
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>Warnings</strong>
          <Lines lines={warnings} />
        </section>
      )}
      {questions.length > 0 && (
        <section class="notice warn" aria-label="Questions of the plan: approval answers yes">
          <strong>Questions of the plan: approval answers yes</strong>
          <Lines lines={questions} />
        </section>
      )}
      <Checks drawing={drawing} />
      <div class="stack-small">
        {changes.map((change) => (
          <ChangedResource key={`${change.resource} ${change.name}`} change={change} />
        ))}
      </div>
    </>
  );
}

function linesOf({ rows }: EffectKinds): EffectLine[] {
  return rows.map(({ from, to, ports }) => ({ sources: [from], targets: [to], traffic: ports }));
}
