import type { JSX } from 'preact'
import type { Additions, MoreScreens, ScreenProps } from '../../screens/screen.ts'
import type { DocumentStage } from '../document-types.ts'
import { ShowScreen } from './camera.tsx'
import { AskingScreen, NoCameraScreen } from './no-camera.tsx'
import { DocumentPoints } from './points.tsx'
import { DocumentEnd, DocumentProblemScreen, LightScreen } from './problem.tsx'
import { ReviewScreen, SentDocument } from './review.tsx'
import { ChooseScreen, DeviceScreen, IntroScreen, LookScreen, WaitScreen } from './still-screens.tsx'

const STAGES: Readonly<Record<DocumentStage, (props: ScreenProps) => JSX.Element | null>> = {
  wait: WaitScreen,
  reporting: WaitScreen,
  look: (props) => <LookScreen {...props} isRepeated={false} />,
  look_again: (props) => <LookScreen {...props} isRepeated />,
  intro: IntroScreen,
  choose: ChooseScreen,
  device: DeviceScreen,
  asking: AskingScreen,
  no_camera: NoCameraScreen,
  show: ShowScreen,
  review: ReviewScreen,
  light: LightScreen,
  problem: DocumentProblemScreen,
}

function DocumentScreen(props: ScreenProps): JSX.Element | null {
  const { state } = props.view
  if (state.at !== 'document') return null
  const Stage = STAGES[state.stage]
  return <Stage key={state.stage} {...props} />
}

export const SCREENS: MoreScreens = { document: DocumentScreen }
export const ADDITIONS: Additions = { welcome: DocumentPoints, ended: DocumentEnd, ledger: SentDocument }
