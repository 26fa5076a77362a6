import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Announcement } from '../../screens/parts/announcement.tsx'
import { Button } from '../../screens/parts/button.tsx'
import { Preview } from '../../screens/parts/preview.tsx'
import { Title } from '../../screens/parts/title.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { GuidanceSound } from '../../sound/guidance-sound.tsx'
import type { TranslateDocuments } from '../../texts/document-keys.ts'
import { documentText } from '../../texts/documents-texts.ts'
import type { DocumentView } from '../document-types.ts'
import { guideFrame, shownPart } from '../guide-frame.ts'
import { SideHint } from './pictures.tsx'

/** The picture size when there is no camera. */
const WITHOUT_CAMERA = { width: 1080, height: 1440 }

/** The camera with the frame for the document. It needs no shutter. Everything important is shown, announced, and spoken on demand. */
export function ShowScreen({ view, actions, texts, page }: ScreenProps): JSX.Element | null {
  const { document: shown } = view
  if (!shown) return null
  const t = documentText(texts)
  const side = sideText(shown, t)
  const guidance = shown.loading ? t('camera.loading') : t(`guidance.${shown.guidance}`)
  return (
    <div class="capture">
      <Title unseen>{t('camera.title')}</Title>
      <p class="side">{side}</p>
      <Docfinder shown={shown} label={t('camera.label')} preview={page.preview} />
      <div class="prompt prompt--document">
        <p class="prompt__text">{guidance}</p>
        <div class="chips">
          <GuidanceSound
            text={`${side}. ${guidance}`}
            sharpness={shown.loading ? null : shown.sharpness}
            texts={texts}
            nowMs={page.nowMs}
          />
          {shown.torch !== null && (
            <button
              type="button"
              class="chip"
              data-action="torch"
              aria-pressed={shown.torch}
              onClick={() => actions.document({ do: 'torch' })}
            >
              {t(shown.torch ? 'camera.torchOff' : 'camera.torchOn')}
            </button>
          )}
          {shown.cameras.length > 1 && <CameraChooser shown={shown} actions={actions} t={t} />}
          <button
            type="button"
            class="chip"
            data-action="document-other"
            onClick={() => actions.document({ do: 'other' })}
          >
            {t('camera.other')}
          </button>
        </div>
        {shown.mayGiveUp && (
          <Button action="document-give-up" look="soft" onPress={() => actions.document({ do: 'give_up' })}>
            {t('camera.giveUp')}
          </Button>
        )}
      </div>
      <Announcement text={`${side}. ${guidance}`} nowMs={page.nowMs} />
    </div>
  )
}

function sideText({ side, choice, isSecondSide }: DocumentView, t: TranslateDocuments): string {
  const wanted = t(side === 'back' && choice === 'licence' ? 'side.backBarcode' : `side.${side}`)
  return isSecondSide ? t('side.turn') : wanted
}

function CameraChooser({
  shown: { cameras, cameraId },
  actions,
  t,
}: Pick<ScreenProps, 'actions'> & { shown: DocumentView; t: TranslateDocuments }): JSX.Element {
  return (
    <select
      class="chip"
      aria-label={t('camera.choose')}
      data-action="camera"
      value={cameraId ?? ''}
      onChange={({ currentTarget }) => actions.document({ do: 'camera', id: currentTarget.value })}
    >
      {cameras.map(({ id, label }, index) => (
        <option key={id} value={id}>
          {label || t('camera.number', { count: index + 1 })}
        </option>
      ))}
    </select>
  )
}

/** The camera's picture, not mirrored, with a frame in the proportions of the document. */
function Docfinder({
  shown: { camera, side, choice, guidance },
  label,
  preview,
}: {
  shown: DocumentView
  label: string
  preview: ScreenProps['page']['preview']
}): JSX.Element {
  const last = useRef(WITHOUT_CAMERA)
  if (camera && camera.width > 0) last.current = { width: camera.width, height: camera.height }
  const { width, height } = last.current
  const crop = shownPart(width, height)
  const frame = guideFrame(width, height, side)
  const radius = frame.width * 0.035
  const box = (at: { x: number; y: number; width: number; height: number }) =>
    `M${at.x} ${at.y}h${at.width}v${at.height}h${-at.width}z`
  return (
    <div class="docfinder" data-guidance={guidance} data-lies={width < height ? undefined : ''}>
      {camera?.stream ? <Preview stream={camera.stream} label={label} /> : <div>{preview}</div>}
      <svg viewBox={`${crop.x} ${crop.y} ${crop.width} ${crop.height}`} aria-hidden="true">
        <path class="viewfinder__veil" d={box(crop) + box(frame)} fill-rule="evenodd" />
        <SideHint side={side} hasBarcode={choice === 'licence'} frame={frame} />
        <rect class="docfinder__frame" {...frame} rx={radius} stroke-width={crop.width * 0.012} />
      </svg>
    </div>
  )
}
