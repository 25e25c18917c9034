import type { Drawing, EffectKinds, WorkflowDetail } from '../../api/types.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { differenceOf } from '../../effect/difference.ts';
import { EffectGraph } from '../../effect/effect-graph.tsx';
import type { EffectLine } from '../../effect/grouped.ts';
import { KindsView } from '../../effect/kinds-view.tsx';
import { Risk } from '../../effect/risk.tsx';
import { review as words } from '../../texts/review.ts';
import { Lines } from '../../ui/lines.tsx';
import { Checks } from './checks.tsx';
import { Stale } from './stale.tsx';

/** What a change does to the network as it is now, from the sentence to the pairs and the YAML. */
export function DrawingView({ workflow, drawing }: { workflow: WorkflowDetail; drawing: Drawing }) {
  const { effect, opens, closes, questions, changes } = drawing;
  // What is asked is not told a second time.
  const warnings = drawing.warnings.filter((text) => !questions.some((question) => question.includes(text)));
  const difference = differenceOf(workflow.effect, effect);
  const marks = (rows: readonly { readonly src: string; readonly dst: string }[]) => {
    const pairs = new Set(drawing.differs ? rows.map(({ src, dst }) => JSON.stringify([src, dst])) : []);
    return (src: string, dst: string) => pairs.has(JSON.stringify([src, dst]));
  };
  return (
    <>
      <Stale workflow={workflow} drawing={drawing} />
      <KindsView
        kind="opens"
        kinds={opens}
        pairs={effect.opened_pairs}
        outside={effect.opened_outside ?? 0}
        isNew={marks(difference.opened)}
      />
      <KindsView
        kind="closes"
        kinds={closes}
        pairs={effect.closed_pairs}
        outside={effect.closed_outside ?? 0}
        isNew={marks(difference.closed)}
      />
      <section class="stack-small">
        <h3>
          {words.risk} <Risk level={drawing.risk_level} />
        </h3>
        <Lines lines={drawing.risk_reasons} />
      </section>
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>{words.warnings}</strong>
          <Lines lines={warnings} />
        </section>
      )}
      {questions.length > 0 && (
        <section class="notice warn" aria-label={words.questions}>
          <strong>{words.questions}</strong>
          <Lines lines={questions} />
        </section>
      )}
      <Checks drawing={drawing} />
      <div class="stack-small">
        <EffectGraph opens={linesOf(opens)} closes={linesOf(closes)} />
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
