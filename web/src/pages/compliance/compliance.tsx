import type { ComponentType } from 'preact';
import { linkTo, route } from '../../route/route.ts';
import { Page } from '../../ui/page.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { AssessmentPage } from './assessment/assessment.tsx';
import { Assessments } from './assessments/assessments.tsx';
import './compliance.css';
import { DriftTab } from './drift/drift.tsx';
import { Keys } from './keys/keys.tsx';
import { ReviewPage } from './reviews/review.tsx';
import { Reviews } from './reviews/reviews.tsx';

type TabName = 'assessments' | 'drift' | 'reviews' | 'keys';

interface Tab {
  readonly title: string;
  readonly All: ComponentType;
  readonly One?: ComponentType<{ id: string }>;
}

/** `#/<workspace>/compliance/<tab>`, and one of it: `…/assessments/<evidence id>`, `…/reviews/<id>`. */
const TABS: Record<TabName, Tab> = {
  assessments: { title: 'Assessments', All: Assessments, One: AssessmentPage },
  drift: { title: 'Drift and schedules', All: DriftTab },
  reviews: { title: 'Reviews', All: Reviews, One: ReviewPage },
  keys: { title: 'Keys and tokens', All: Keys },
};

export default function Compliance() {
  const names = Object.keys(TABS) as TabName[];
  const [tab, id] = route.value.rest;
  const current = names.find((name) => name === tab) ?? 'assessments';
  const { All, One } = TABS[current];
  const tabs = names.map((name) => ({ name, title: TABS[name].title, href: linkTo('compliance', [name]) }));
  return (
    <Page title="Compliance">
      <PageTabs label="Compliance" tabs={tabs} current={current} />
      {One && id ? <One key={id} id={id} /> : <All key={current} />}
    </Page>
  );
}
