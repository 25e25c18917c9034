import { Answer } from '../../reach/answer.tsx';
import { askedIn, queryOf } from '../../reach/asked.ts';
import { useSummary } from '../../reach/use-summary.ts';
import { linkTo, route } from '../../route/route.ts';
import { reachability as words } from '../../texts/reachability.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Assertions } from './assertions.tsx';
import { Matrix } from './matrix.tsx';
import { Question } from './question.tsx';
import '../../reach/reach.css';
import './reachability.css';

/** Who may reach whom: one question, the matrix by labels, and what must stay true. */
export default function Reachability() {
  const asked = askedIn(route.value.query);
  const { src, dst } = asked;
  const isAsked = src !== '' || dst !== '';
  return (
    <Page title={words.title}>
      <Question asked={asked} />
      {isAsked && (
        <Answer
          key={`answer ${JSON.stringify(asked)}`}
          asked={asked}
          takesFocus
          actions={
            <>
              <a href={linkTo('reachability', [], queryOf({ ...asked, src: dst, dst: src }))}>{words.swap}</a>
              <a href={linkTo('reachability', [], queryOf({ ...asked, src: '', dst: '', protocol: '', port: '' }))}>
                {words.clear}
              </a>
            </>
          }
        />
      )}
      <MatrixSection />
      <Assertions />
    </Page>
  );
}

function MatrixSection() {
  const loaded = useSummary();
  const isNarrowed = route.value.query.has('label');
  return (
    <section class="stack" aria-label={words.matrix}>
      <h2>{words.matrix}</h2>
      <ReadResult of={loaded.value}>
        {(summary) =>
          summary.groups.length === 0 && !isNarrowed ? (
            <Empty>
              {words.empty}
              <a class="button primary" href={linkTo('join')}>
                {words.addDevice}
              </a>
            </Empty>
          ) : (
            <Matrix summary={summary} />
          )
        }
      </ReadResult>
    </section>
  );
}
