/** A simple drawn face: hair, skin, eyes, mouth and shoulders before a plain wall. It is nobody's. */
import type { Picture } from '@ostiary/documents'
import type { Random } from './random.ts'

type Colour = readonly [red: number, green: number, blue: number]

export function drawPortrait(random: Random, width = 280, height = 360): Picture {
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  const skin = mixed([236, 200, 172], [104, 66, 46], random.next())
  const hair = mixed([40, 28, 22], [196, 160, 110], random.next() ** 2)
  const wall = mixed([226, 230, 234], [168, 186, 208], random.next())
  const cloth: Colour = [random.between(20, 190), random.between(20, 190), random.between(20, 190)]
  const face = {
    x: 0.5 + random.normal() * 0.015,
    y: 0.46,
    across: random.between(0.24, 0.29),
    down: random.between(0.27, 0.31),
  }
  const side = random.between(-0.25, 0.25)
  const inside = (x: number, y: number, [middleX, middleY, across, down]: readonly [number, number, number, number]) =>
    ((x - middleX) / across) ** 2 + ((y - middleY) / down) ** 2 < 1
  const colourAt = (x: number, y: number): Colour => {
    for (const eye of [-1, 1]) {
      if (inside(x, y, [face.x + eye * 0.1, face.y - 0.02, 0.016, 0.013])) return [30, 24, 20]
      if (inside(x, y, [face.x + eye * 0.1, face.y - 0.02, 0.038, 0.018])) return [232, 228, 222]
      if (inside(x, y, [face.x + eye * 0.1, face.y - 0.075, 0.055, 0.01])) return hair
    }
    if (inside(x, y, [face.x, face.y + 0.16, 0.07, 0.014])) return [150, 74, 70]
    if (inside(x, y, [face.x, face.y + 0.06, 0.02, 0.05])) return shaded(skin, 0.88)
    if (y < face.y - 0.17 && inside(x, y, [face.x, face.y - 0.02, face.across + 0.02, face.down + 0.02])) return hair
    if (inside(x, y, [face.x, face.y, face.across, face.down])) return shaded(skin, 1 + side * (x - face.x) * 2)
    if (inside(x, y, [face.x, face.y - 0.05, face.across + 0.035, face.down + 0.03])) return hair
    if (Math.abs(x - face.x) < 0.11 && y > face.y && y < 0.86) return shaded(skin, 0.82)
    return inside(x, y, [face.x, 1.06, 0.46, 0.26]) ? cloth : wall
  }
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const colour = colourAt((x + 0.5) / width, (y + 0.5) / height)
      for (let channel = 0; channel < 3; channel++)
        data[(y * width + x) * 4 + channel] = (colour[channel] ?? 0) + random.normal() * 2
    }
  return { width, height, data }
}

function mixed(first: Colour, second: Colour, share: number): Colour {
  const [red, green, blue] = first
  return [red + (second[0] - red) * share, green + (second[1] - green) * share, blue + (second[2] - blue) * share]
}

function shaded([red, green, blue]: Colour, by: number): Colour {
  return [red * by, green * by, blue * by]
}

/** As many documents print it. */
export function toGreyPortrait({ width, height, data }: Picture): Picture {
  const grey = data.map((value, at) => {
    const first = at - (at % 4)
    const luma = 0.3 * (data[first] ?? 0) + 0.59 * (data[first + 1] ?? 0) + 0.11 * (data[first + 2] ?? 0)
    return at % 4 === 3 ? value : luma
  })
  return { width, height, data: grey }
}
